// SPDX-License-Identifier: BSD-3-Clause
// The copies that drain the receive mirror to the user's memory, on their own stream. Pieces of a large
// message are drained before the rest has arrived. All other messages that have arrived are drained as one
// copy.
#pragma once

#include <cstdint>
#include <vector>

#include "device/driver.hpp"
#include "exchange/staging/mirror.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

class Drains {
 public:
  /// receives must outlive this object. If receives has no bytes, nothing is drained.
  Drains(const device::Location& at, const Mirror& receives, Bytes chunk_bytes);

  bool any() const { return receives_.bytes() > 0; }
  const device::Stream& stream() const { return stream_; }
  void begin();
  /// Records that MPI has written this block into the mirror.
  void land(const Block& received);
  /// Drains those pieces of large messages that the last call of MPI has brought, with one copy per message.
  void drain_landed();
  /// Records that a message has arrived completely. Returns the number of the drain that the message needs.
  std::int64_t take(std::size_t partner);
  bool has_taken() const { return has_taken_; }
  Bytes pending_bytes() const { return pending_bytes_; }
  /// Drains the messages recorded by take(); contiguous bytes are one copy.
  void drain_taken();
  /// Whether all drains that were begun are over. With block, waits until they are over.
  bool are_over(bool block);
  /// Whether are_over() has seen that the drain with this number is complete.
  bool is_known_over(std::int64_t number) const { return number <= num_over_; }
  /// The event of the drain that was begun last; null if there was none.
  const device::Event* last() const { return num_begun_ == 0 ? nullptr : &event_of(num_begun_); }

 private:
  /// The maximum number of active drains. Each has an event. If there are more, the oldest drain is awaited.
  /// With chunks of 256 KiB this number of drains takes 84 us on a bus of 50 GB/s. A rank with its own core
  /// looks after its drains more often than that (looks_before_yield).
  static constexpr std::int64_t num_events = 16;
  /// A message that has arrived, or the rest of a message. It is drained together with the next messages.
  struct Pending {
    Bytes begin;
    Bytes end;
  };
  struct Landing {
    Bytes come = 0;          // contiguous bytes from the begin that have arrived
    Bytes drained = 0;       // contiguous bytes from the begin that are drained
    bool is_listed = false;  // in landed_
  };
  const device::Event& event_of(std::int64_t number) const {
    return events_[static_cast<std::size_t>((number - 1) % num_events)];
  }

  const Mirror& receives_;
  Bytes chunk_bytes_;
  device::Stream stream_;
  std::vector<device::Event> events_;           // cyclic
  std::vector<std::size_t> ranges_of_partner_;  // indices of ranges, by partner
  std::int64_t num_begun_ = 0;                  // drains that were ever begun
  std::int64_t num_over_ = 0;                   // drains that are known to be over

  // State of the running exchange.
  std::vector<Landing> landings_;    // by range
  std::vector<std::size_t> landed_;  // ranges with pieces from the last call of MPI
  std::vector<Pending> pending_;
  Bytes pending_bytes_ = 0;
  bool has_taken_ = false;  // whether messages were taken since the last drain
};

}  // namespace nuice::mpi
