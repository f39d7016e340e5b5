// SPDX-License-Identifier: BSD-3-Clause
// The measured operations of NUICE's active messages: one endpoint per transport, with the handlers of all
// patterns.
//
// The clock stops when the sender knows that the receiver's last handler has run, not when its own sends are
// complete. Every function is collective. On the ranks that measure it returns the seconds per operation, on
// other ranks 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bench/harness.hpp"
#include "nuice/am/endpoint.hpp"
#include "nuice/am/level_sync.hpp"
#include "nuice/am/port.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::am_bench {

struct Word {
  std::uint64_t value;
};

/// How a computing rank receives messages.
enum class Progress { polling, interrupts, thread };

class AmSide {
 public:
  /// Collective. poll_every: the number F of 002 s.4.4. blocks must live as long as this object.
  AmSide(const am::mpi::Options& options, Blocks& blocks, int poll_every = 16);

  am::Endpoint& endpoint() { return ep_; }
  static bool allows_threads();

  double ping_pong(std::size_t bytes, int times);            ///< Round trip between ranks 0 and 1, by reply.
  double flood(std::size_t bytes, int messages);             ///< Rank 0 to 1.
  double round_trip_flood(std::size_t bytes, int messages);  ///< Like flood(), but each message is answered
                                                             ///< by a reply.
  double two_way_flood(std::size_t bytes, int messages);     ///< Between ranks 0 and 1; time per message of
                                                             ///< either.
  /// Sends 8-byte items and returns the time per item. in_one_piece: whether the handler gets all items of a
  /// buffer together.
  double coalesced(std::size_t buffer_bytes, int items, bool two_way, bool in_one_piece);
  /// Returns half of a round trip of a block that is sent as 16-byte packets (002 fig. 14).
  double packets(std::size_t bytes, int times);
  double put(std::size_t bytes, int times);           ///< Half of a round trip of a block that is put into a
                                                      ///< port.
  double packet_shift(std::size_t bytes, int times);  ///< Two-directional circular shift (figs 16-18).
  double put_shift(std::size_t bytes, int times);
  /// Ranks 0 .. senders-1 all send a message of `bytes` to the last rank (004 table 2). Returns the last
  /// rank's time, or that of the slowest sender.
  double fan_in(std::size_t bytes, int senders, int times, bool time_senders);
  double all_to_all(int messages);  ///< Every rank sends to every rank; returns the time per message of a
                                    ///< rank.
  double quiesce(int times);
  double level(int times);
  double empty_poll(int times);
  /// Returns the time of a round trip to rank 1 while rank 1 computes. work_per_s: set to the units of work
  /// that rank 1 completes per second.
  double ping_computing(Progress progress, int times, double& work_per_s);

 private:
  /// Runs time_work() between two quiesce(), with counters at 0.
  double time(bool counts, double operations, const std::function<void()>& work);
  double flood_with(const std::function<void(Rank dst)>& send_all, int messages, bool two_way);
  double flood_with(am::Handler<Word> handler, std::size_t bytes, int messages, bool two_way);
  void wait_for(const std::uint64_t& counter, std::uint64_t target);
  void open_ports(std::size_t bytes, const std::vector<Rank>& from);

  am::Endpoint ep_;
  std::uint64_t received_ = 0;
  std::uint64_t pongs_ = 0;
  std::uint64_t acks_ = 0;
  std::uint64_t sum_ = 0;
  volatile bool stop_ = false;
  std::vector<am::PortRef> refs_;  // by rank: the port for data to it
  Memory& data_;
  Memory& memory_;
  std::vector<am::Port> ports_;
  am::Handler<Word> ping_, pong_, drop_, drop_items_, drop_block_;
  am::Handler<am::Packet> packet_;
  am::Handler<am::Nothing> ack_, want_ack_, halt_;
  am::Handler<am::PortRef> tell_ref_;
  std::optional<am::LevelSync> levels_;
};

}  // namespace nuice::am_bench
