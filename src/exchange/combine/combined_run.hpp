// SPDX-License-Identifier: BSD-3-Clause
// Messages that travel combined: every rank writes what it has into memory that its host shares, one message goes from each
// host to each other one, and every rank reads what is for it. One copy in, one copy out, hosts * (hosts - 1) messages of
// the network at most. What is too large for that travels beside it, by the executor of the plan.
//
//   start:    leaders start their receives, into the shared memory; write; the other executor starts
//   advance:  leaders: send a block when all have written it; when one has come, tell those who have something in it
//             all: read when everything is here
//
// Who leads is fixed (HostGroup). Other ranks call MPI only once in a while, and sleep while they wait.
//
// Why no rank waits for ever: writing waits for nothing but that those who read the same half two exchanges before have
// finished it. So when all ranks have started, all write; so all blocks are sent, to receives that are
// started; in the end all are here, and all read. The other executor has a proof of its own, and both are looked after
// in turn.
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
#include "exchange/exec/run.hpp"
#include "exchange/host_layout.hpp"
#include "mpi/host/shared_segment.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {

/// What bind() has found out for it.
struct CombinedParts {
  std::shared_ptr<const HostGroup> group;
  std::shared_ptr<const Communicator> comm;  // for messages from host to host
  int tag = 0;                               // likewise
  Bytes chunk_bytes = 0;                     // as RunSettings::chunk_bytes, of these messages
  TableElements elements;                    // of this rank's messages that travel so
  exchange::HostLayout layout;
  SharedSegment memory;
};

class CombinedRun : public Run {
 public:
  /// others: what carries out the rest; null: there is none. Not collective.
  CombinedRun(CombinedParts parts, Rank rank, Arrivals& arrivals, std::unique_ptr<Run> others);

  void agree() override;
  void start() override;
  bool advance(bool block) override;
  void follow() override;
  bool always_follows() const override { return others_ && others_->always_follows(); }
  bool next(bool block) override;
  std::int64_t num_events() const override { return num_events_ + (others_ ? others_->num_events() : 0); }
  std::string waits_for() const override;
  void cancel() noexcept override;
  void describe(ExchangeInfo& info) const override;

 private:
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
  std::vector<RankLine*> lines_of(std::vector<Rank>& ranks) const;

  bool look(bool single);
  void start_receives();
  void write();
  void send_blocks();
  void take_completed();
  void read();
  void finish();
  void wait_a_little();
  void take(Group& group);
  bool is_all_here() const {
    return mine_->arrived[half_].load(std::memory_order_acquire) == mine_->expected;
  }
  bool has_sent() const { return num_active_ == 0 && num_sent_ == outgoing_.size(); }
  static bool have_finished(const std::vector<RankLine*>& ranks, Number number);
  static void tell(RankLine& rank, std::size_t half);

  CombinedParts parts_;
  Rank rank_;
  Rank host_;
  Arrivals& arrivals_;
  std::unique_ptr<Run> others_;
  Window window_;
  RankLine* mine_;

  std::vector<SharedCopy> writes_;
  std::vector<BlockLine*> writes_to_;         // blocks in which this rank has a part
  std::vector<RankLine*> writes_for_;         // ranks of this host for which it has something
  std::vector<RankLine*> readers_of_writes_;  // those, and who sends the blocks
  std::vector<RankLine*> readers_of_blocks_;  // of all blocks that this rank receives
  std::vector<Group> groups_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::array<Requests, 2> requests_;  // by half: receives, then sends
  std::vector<int> indices_;
  std::vector<std::size_t> block_of_;  // by receive: which of incoming_

  // of the running exchange
  Number number_ = 0;
  std::size_t half_ = 0;
  std::size_t num_active_ = 0;  // requests
  std::size_t num_sent_ = 0;
  std::size_t num_taken_ = 0;
  bool receives_ = false;
  bool has_written_ = false;
  bool is_finished_ = false;
  bool follows_ = false;
  bool others_are_done_ = false;
  unsigned turns_ = 0;
  Patience patience_;
  std::int64_t num_events_ = 0;
};

}  // namespace nuice::mpi
