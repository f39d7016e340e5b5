// SPDX-License-Identifier: BSD-3-Clause
// Messages that travel combined: every rank writes what it has into memory that its host shares, one message goes from each
// host to each other one, and every rank reads what is for it. One copy in, one copy out, hosts * (hosts - 1) messages of
// the network at most. What is too large for that travels by the executor of the plan.
//
//   start:    leaders start their receives, into the shared memory; all write; the other executor starts
//   advance:  leaders: send a block when all have written it; when one has come, notify the ranks with messages in it
//             all: read when everything is here
//
// The leaders are fixed (HostGroup). Other ranks call MPI only once in a while, and sleep while they wait.
//
// Why no rank waits forever: receives and writing wait only until the ranks that read the same half two exchanges
// before have finished it. So when all ranks have started, all write; so all blocks are sent, to receives that are
// started; in the end all are here, and all read.
//
// Cost: a rank writes and reads its messages, and counts up for each block and each rank of its host that it writes for; a
// leader has two requests for each host that it leads for, and one call of MPI a turn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/bind/whole_messages.hpp"
#include "exchange/combine/host_group.hpp"
#include "exchange/combine/window.hpp"
#include "exchange/exec/outer_run.hpp"
#include "exchange/host_layout.hpp"
#include "mpi/host/shared_segment.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {

/// What bind() has found out for it.
struct CombinedParts : Decorator {
  explicit CombinedParts(exchange::HostLayout its_layout) : layout(std::move(its_layout)) {}

  std::shared_ptr<const HostGroup> group;
  std::shared_ptr<const Communicator> comm;  // for messages from host to host
  int tag = 0;                               // likewise
  Bytes chunk_bytes = 0;                     // as RunSettings::chunk_bytes, of these messages
  TableElements elements;                    // of this rank's messages that travel so
  exchange::HostLayout layout;
  SharedSegment memory;

  std::unique_ptr<Run> around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) override;
};

class CombinedRun : public OuterRun {
 public:
  /// others: what carries out the rest; null: there is none. Not collective.
  CombinedRun(CombinedParts parts, Rank rank, Arrivals& arrivals, std::unique_ptr<Run> others);

 private:
  /// waits  for all readers of this half to have finished the exchange before the last: enter(), which starts receives and
  ///        writes;                                                                                   then moves
  /// moves  blocks leave as they are written, and what comes is read: finish(), once all of it is done; then over
  enum class State : std::uint8_t { waits, moves, over };
  /// What is here at once: a block from another host, or what a rank of this host has written.
  struct Group {
    const std::atomic<Number>* says;
    std::vector<SharedCopy> copies;
    std::vector<std::size_t> sources;  // in the arrivals
    bool is_taken = false;
  };
  /// A block that this rank sends.
  struct Outgoing {
    BlockLine* line;
    Number writers;
    std::size_t num_pieces = 0;
    bool is_sent = false;
  };
  /// A block that this rank receives.
  struct Incoming {
    BlockLine* line;
    std::vector<RankLine*> readers;
    std::size_t num_pieces = 0;
    std::size_t num_left = 0;
  };

  void find_copies(Arrivals& arrivals);
  void find_neighbours();
  void make_requests();
  /// Returns their number.
  std::size_t add_requests(const exchange::HostLayout::Block& block, std::size_t half, bool is_send);
  void take_piece(Incoming& block);
  bool leads(const exchange::HostLayout::Block& block) const {
    return parts_.group->leader(host_, block.host) == rank_;
  }

  void begin() override;
  void go_on() override;
  bool is_over() const override { return state_ == State::over; }
  void wait_a_little() override;
  void land_what_is_here() override;
  std::vector<Rank> own_waits_for() const override;

  void enter();
  void write();
  void send_blocks();
  void take_completed();
  void read();
  void finish();
  void take(Group& group);
  bool is_all_here() const {
    return mine_->arrived[half_].load(std::memory_order_acquire) == mine_->expected;
  }
  bool has_sent() const { return num_active_ == 0 && num_sent_ == outgoing_.size(); }
  static void tell(RankLine& rank, std::size_t half);

  CombinedParts parts_;
  Rank rank_;
  Rank host_;
  Window window_;
  RankLine* mine_;

  std::vector<SharedCopy> writes_;
  std::vector<BlockLine*> writes_to_;  // blocks in which this rank has a part
  std::vector<RankLine*> writes_for_;  // ranks of this host for which it has something
  std::vector<RankLine*> readers_;  // those, ranks that send the blocks, and ranks that read what comes here
  std::vector<Group> groups_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::array<Requests, 2> requests_;  // by half: receives, then sends
  std::vector<int> indices_;
  std::vector<std::size_t> block_of_;  // by receive: which of incoming_

  // of the running exchange
  State state_ = State::over;
  Number number_ = 0;
  std::size_t half_ = 0;
  std::size_t num_active_ = 0;  // requests
  std::size_t num_sent_ = 0;
  std::size_t num_taken_ = 0;
  Patience patience_;
};

}  // namespace nuice::mpi
