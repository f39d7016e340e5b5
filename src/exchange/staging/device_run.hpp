// SPDX-License-Identifier: BSD-3-Clause
// Carries out an exchange of device memory by an inner exchange that MPI can carry out:
//
//   staged   the inner exchange uses mirrors in pinned host memory; the device fills and drains them in
//            chunks
//   direct   the inner exchange uses the device memory itself, which MPI reads and writes
//
//   start:    the device fills the send mirror in the order of sending; the inner exchange starts, and
//             sends what is filled (Copies)
//   advance:  data that has arrived is drained; the exchange is over when the inner exchange is over and the
//             device has drained everything
//
// This run belongs to the user's exchange, and owns the inner exchange. If any rank of an exchange uses
// device memory, all ranks have such a run. On ranks without device memory it has nothing to fill or drain.
//
// Streams: the run waits for work that the program put on its stream before start(). Work that the program
// puts on a stream after wait() finds the data. The run has two streams of its own, so that both directions
// of the bus are used.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exchange/bind/copies.hpp"
#include "exchange/exec/exchange_state.hpp"
#include "exchange/staging/drains.hpp"
#include "exchange/staging/fills.hpp"

namespace nuice::mpi {

/// A part of the rank's message to itself, which the device copies.
struct DeviceSelfCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
};

/// The parts of a DeviceRun, which bind() makes.
struct DeviceParts {
  device::Location at;  // the device of both sides; unused for a side in host memory
  Mirror sends;         // without bytes if nothing is filled
  Mirror receives;
  std::vector<DeviceSelfCopy> self;
  bool self_waits = false;   // whether `self` is copied after the send mirror is filled
  Bytes start_end = 0;       // a position in `sends`: the inner exchange starts when it is filled up to here
  bool drains_last = false;  // whether drains begin only when everything is filled
  Bytes chunk_bytes = 0;
  // Flags by source. The flag of this rank is set if the inner exchange copies the rank's message to itself.
  std::vector<char> drains_self = {};
  bool reads_device = false;  // whether MPI reads device memory
  std::string says;           // the text of ExchangeInfo::device
};

class DeviceRun : public Run, public Copies {
 public:
  /// Not collective. sources: each source of the exchange once. The caller hands over the message of rank
  /// `self` to itself. arrivals: the Arrivals of the user's exchange. use and faults must outlive this run.
  /// If faults is null, errors stay on this rank.
  DeviceRun(DeviceParts parts, std::span<const Partner> sources, Rank self, Arrivals& arrivals,
            const StreamUse& use, Faults* faults = nullptr);
  ~DeviceRun() override;
  /// Sets the inner exchange, which is bound to the mirrors and may report its pieces to this run. Call it
  /// once, before all other functions.
  void carry_out_by(std::unique_ptr<Exchange::State> inner);
  const Mirror& sends() const { return parts_.sends; }
  const Mirror& receives() const { return parts_.receives; }
  bool has_mirrors() const { return fills_.any() || drains_.any(); }
  /// Whether the device copies the rank's message to itself, so that the inner exchange must not copy it.
  bool copies_self() const { return !parts_.self.empty(); }

  // Run
  void start() override;
  bool advance(bool block) override { return go_on(block, false); }
  void follow() override {}
  bool always_follows() const override { return true; }
  bool next(bool block) override { return go_on(block, block); }
  std::int64_t num_events() const override;
  std::string waits_for() const override;
  void cancel() noexcept override;
  void describe(ExchangeInfo& info) const override;

  // Copies
  void await(const Block& sent) override;
  bool is_filled(const Block& sent) override;
  void land(const Block& received) override;

 private:
  struct HandOver {
    std::size_t source;  // index in the arrivals
    std::int64_t drain;  // the number of the drain for which it waits
  };

  void begin_on_streams();
  void copy_self();
  void finish_self();
  void take(const Arrival& arrival);
  void hand_over();
  bool take_next(bool may_wait, bool drains_at_once);
  bool go_on(bool block, bool until_arrival);

  DeviceParts parts_;
  Rank rank_;
  Arrivals& arrivals_;
  const StreamUse& use_;
  Faults* faults_;
  bool is_given_up_ = false;
  Fills fills_;
  Drains drains_;
  device::Event begun_;
  device::Event self_copied_;
  std::unique_ptr<Exchange::State> inner_;  // destroyed before the memory that it sends

  // State of the running exchange.
  bool inner_is_over_ = true;
  Rank last_source_ = no_rank;
  std::vector<HandOver> waiting_;  // messages to hand over, in the order of drains
  std::size_t num_handed_over_ = 0;
  unsigned num_misses_ = 0;  // calls in a row that found nothing
  std::int64_t num_events_ = 0;
};

}  // namespace nuice::mpi
