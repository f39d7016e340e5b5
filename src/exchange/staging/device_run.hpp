// SPDX-License-Identifier: BSD-3-Clause
// An exchange of memory on a device, made of one that MPI can carry out:
//
//   staged   between copies in pinned memory of the host: the device fills and drains them, in chunks, while others travel
//   direct   on the device's memory itself, by an MPI that reads and writes it
//
//   start:    the device fills what is sent, in the order of sending; the other exchange starts, and sends what is filled (Copies)
//   advance:  what has come is drained; over when the other exchange is, and the device has drained all
//
// It is a run of the exchange that the user has, and owns the one that it is made of. A rank of such an exchange that has no
// memory on a device has such a run, too, with nothing to fill or drain.
//
// Streams: all waits for what the program had put on its stream before start(); what the program puts on a stream after wait() finds
// the data. Two streams of our own, so that both directions of the bus are busy.
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

/// A message of a rank to itself that the device copies.
struct DeviceSelfCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
};

/// What bind() has made.
struct DeviceParts {
  device::Location at;  // of both sides; of a side on the host this is none of its concern
  Mirror sends;         // no bytes: nothing is to be filled
  Mirror receives;
  std::vector<DeviceSelfCopy> self;
  bool self_waits = false;   // for what is filled
  Bytes start_end = 0;       // in `sends`: the other exchange starts when all before is filled
  bool drains_last = false;  // not before all is filled
  Bytes chunk_bytes = 0;
  std::vector<char> drains_self =
      {};                     // of partners to receive from: this rank, and the other exchange copies
  bool reads_device = false;  // MPI does
  std::string says;           // for ExchangeInfo::device
};

class DeviceRun : public Run, public Copies {
 public:
  /// Not collective. sources: of the exchange, each once; what `self` sends itself is handed over by others. arrivals: of the exchange that
  /// the user has. use, faults: outlive this; null: errors stay this rank's.
  DeviceRun(DeviceParts parts, std::span<const Partner> sources, Rank self, Arrivals& arrivals,
            const StreamUse& use, Faults* faults = nullptr);
  ~DeviceRun() override;
  /// The other exchange, bound to the mirrors, which may tell this of its pieces. Once, before all others.
  void carry_out_by(std::unique_ptr<Exchange::State> inner);
  const Mirror& sends() const { return parts_.sends; }
  const Mirror& receives() const { return parts_.receives; }
  bool has_mirrors() const { return fills_.any() || drains_.any(); }
  /// Whether the device copies the message to itself, and the other exchange must not.
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
    std::size_t source;  // in the arrivals
    std::int64_t drain;  // the number of the one that it waits for
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
  std::unique_ptr<Exchange::State> inner_;  // destroyed before what it sends from

  // of the running exchange
  bool inner_is_over_ = true;
  Rank last_source_ = no_rank;
  std::vector<HandOver> waiting_;  // in the order of drains
  std::size_t num_handed_over_ = 0;
  unsigned num_misses_ = 0;  // looks that found nothing
  std::int64_t num_events_ = 0;
};

}  // namespace nuice::mpi
