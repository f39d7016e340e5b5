// SPDX-License-Identifier: BSD-3-Clause
// Combines messages: every rank writes its messages into memory that its host shares, each host sends one
// message to each other host, and every rank reads its messages from the shared memory. A message is copied
// in once and out once, and the network carries at most hosts * (hosts - 1) messages. The plan's executor
// carries messages that are too large for this.
//
//   start:    leaders start their receives into the shared memory; all ranks write; the other executor starts
//   advance:  leaders send each block that all its writers have written, and notify the readers of each block
//             that has arrived; all ranks read when everything is here
//
// The leaders are fixed (HostGroup). Other ranks call MPI rarely, and sleep while they wait.
//
// Why no rank waits forever: receives and writes wait only until the readers of the same half have finished
// the exchange before the last one. So when all ranks have started, all ranks write. Then all blocks are
// sent, to receives that are started. So all blocks arrive, and all ranks read.
//
// Cost: each message is copied at both ends. A rank increments a counter for each block and each rank of its
// host to which it writes. A leader has two requests per host that it serves, and calls MPI once per
// advance().
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

/// The parts of a CombinedRun, which bind() makes.
struct CombinedParts : Decorator {
  explicit CombinedParts(exchange::HostLayout its_layout) : layout(std::move(its_layout)) {}

  std::shared_ptr<const HostGroup> group;
  std::shared_ptr<const Communicator> comm;  // for messages between hosts
  int tag = 0;                               // of these messages
  Bytes chunk_bytes = 0;                     // the size of their pieces, as RunSettings::chunk_bytes
  TableElements elements;                    // of this rank's combined messages
  exchange::HostLayout layout;
  SharedSegment memory;

  std::unique_ptr<Run> around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) override;
};

class CombinedRun : public OuterRun {
 public:
  /// Not collective. others: the run of the other messages; null if there are none.
  CombinedRun(CombinedParts parts, Rank rank, Arrivals& arrivals, std::unique_ptr<Run> others);

 private:
  /// waits  until all readers of this half have finished the exchange before the last one; then enter()
  ///        starts the receives, writes, and leads to `moves`
  /// moves  blocks are sent once they are written, and arriving data is read; when all is done, finish()
  ///        leads to `over`
  enum class State : std::uint8_t { waits, moves, over };
  /// Messages that become available together: a block from another host, or all messages that one rank of
  /// this host has written.
  struct Group {
    const std::atomic<Number>* says;
    std::vector<SharedCopy> copies;
    std::vector<std::size_t> sources;  // indices in the arrivals
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
  /// Adds the requests for the pieces of a block. Returns their number.
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
  std::vector<BlockLine*> writes_to_;  // blocks that contain messages of this rank
  std::vector<RankLine*> writes_for_;  // ranks of this host to which this rank sends

  // All ranks that read what this rank writes or receives. They are ranks of this host to which it sends,
  // leaders that send its blocks, and readers of the blocks that it receives.
  std::vector<RankLine*> readers_;
  std::vector<Group> groups_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::array<Requests, 2> requests_;  // by half: receives, then sends
  std::vector<int> indices_;
  std::vector<std::size_t> block_of_;  // by receive: the index in incoming_

  // State of the running exchange.
  State state_ = State::over;
  Number number_ = 0;
  std::size_t half_ = 0;
  std::size_t num_active_ = 0;  // requests in flight
  std::size_t num_sent_ = 0;
  std::size_t num_taken_ = 0;
  Patience patience_;
};

}  // namespace nuice::mpi
