// SPDX-License-Identifier: BSD-3-Clause
// The copies that drain the mirror of what has come to where it belongs, on a stream of their own. Pieces of
// a large message are drained before the rest is here; of other messages as many as have come are one copy.
#pragma once

#include <cstdint>
#include <vector>

#include "device/driver.hpp"
#include "exchange/staging/mirror.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

class Drains {
 public:
  /// receives: outlives this; without bytes nothing is drained.
  Drains(const device::Location& at, const Mirror& receives, Bytes chunk_bytes);

  bool any() const { return receives_.bytes() > 0; }
  const device::Stream& stream() const { return stream_; }
  void begin();
  /// MPI has put it there.
  void land(const Block& received);
  /// What one call of MPI has brought of a message is one copy.
  void drain_landed();
  /// A message is here as a whole. Returns the number of the drain that it waits for.
  std::int64_t take(std::size_t partner);
  bool has_taken() const { return has_taken_; }
  Bytes pending_bytes() const { return pending_bytes_; }
  /// The messages taken; contiguous bytes as one copy.
  void drain_taken();
  /// Whether all that was begun is over. block: it is.
  bool are_over(bool block);
  /// are_over() has seen the end of a drain with that number.
  bool is_known_over(std::int64_t number) const { return number <= num_over_; }
  /// Of the last drain ever; null where there was none.
  const device::Event* last() const { return num_begun_ == 0 ? nullptr : &event_of(num_begun_); }

 private:
  /// Active at a time, an event each; the oldest is waited for. That number of chunks of 256 KiB is on a bus of
  /// 50 GB/s for 84 us, longer than a rank with a core of its own is away from it (looks_before_yield).
  static constexpr std::int64_t num_events = 16;
  /// A message that is here, or a part of it, and is drained with the next ones.
  struct Pending {
    Bytes begin;
    Bytes end;
  };
  struct Landing {
    Bytes come = 0;          // in one piece from the begin
    Bytes drained = 0;       // likewise
    bool is_listed = false;  // in landed_
  };
  const device::Event& event_of(std::int64_t number) const {
    return events_[static_cast<std::size_t>((number - 1) % num_events)];
  }

  const Mirror& receives_;
  Bytes chunk_bytes_;
  device::Stream stream_;
  std::vector<device::Event> events_;           // cyclic
  std::vector<std::size_t> ranges_of_partner_;  // indices, by partner
  std::int64_t num_begun_ = 0;                  // drains, ever
  std::int64_t num_over_ = 0;                   // that are known to be

  // of the running exchange
  std::vector<Landing> landings_;    // by range
  std::vector<std::size_t> landed_;  // ranges of which pieces have come in the last call of MPI
  std::vector<Pending> pending_;
  Bytes pending_bytes_ = 0;
  bool has_taken_ = false;  // messages since the last drain
};

}  // namespace nuice::mpi
