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
#include <algorithm>
#include <climits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/support/pause.hpp"
#include "exchange/bind/whole_messages.hpp"
#include "exchange/combine/combine.hpp"
#include "exchange/combine/host_group.hpp"
#include "exchange/combine/window.hpp"
#include "exchange/exec/outer_run.hpp"
#include "exchange/host_layout.hpp"
#include "mpi/host/looking.hpp"
#include "mpi/host/shared_segment.hpp"
#include "mpi/wait.hpp"

namespace nuice::mpi {
namespace {

using exchange::HostLayout;

/// The time after which a sleeping rank wakes to let MPI progress (see looks_per_progress). Waking takes
/// about 10 us, 1 % of this time.
constexpr double nap_s = 1e-3;

std::size_t half_bytes(const HostLayout& layout) { return static_cast<std::size_t>(layout.bytes()); }

class CombinedRun : public OuterRun {
 public:
  CombinedRun(CombinedParts parts, Rank rank, Arrivals& arrivals, std::unique_ptr<Run> others)
      : OuterRun(arrivals, std::move(others)),
        parts_(std::move(parts)),
        rank_(rank),
        host_(parts_.group->hosts().host_of(rank)),
        window_(parts_.memory.data(), parts_.group->ranks().size(), parts_.layout.outgoing().size(),
                parts_.layout.incoming().size(), half_bytes(parts_.layout)),
        mine_(&window_.ranks[parts_.group->index_of(rank)]) {
    find_copies(arrivals);
    find_neighbours();
    make_requests();
  }

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

  void find_copies(Arrivals& arrivals) {
    sort_by_partner(parts_.elements.sends);
    sort_by_partner(parts_.elements.receives);
    for (const HostLayout::Place& place : parts_.layout.sends())
      add_copies(parts_.elements.sends, place.partner, place.begin, writes_);
    std::size_t last = no_index;  // the block whose messages were placed last
    for (const HostLayout::Place& place : parts_.layout.receives()) {
      const bool is_local = place.block == no_index;
      if (is_local) groups_.push_back({&window_.ranks[parts_.group->index_of(place.partner)].posted, {}, {}});
      if (place.block != last) groups_.push_back({&window_.incoming[place.block].landed, {}, {}});
      last = place.block;
      add_copies(parts_.elements.receives, place.partner, place.begin, groups_.back().copies);
      arrivals.expect_pieces(place.partner, 1);
      groups_.back().sources.push_back(arrivals.index_of(place.partner));
    }
    mine_->expected = static_cast<Number>(groups_.size());
  }

  void find_neighbours() {
    const HostGroup& group = *parts_.group;
    const auto line_of = [&](Rank rank) { return &window_.ranks[group.index_of(rank)]; };
    std::vector<Rank> readers;
    for (const HostLayout::Place& place : parts_.layout.sends()) {
      if (place.block != no_index) continue;
      writes_for_.push_back(line_of(place.partner));
      readers.push_back(place.partner);
    }
    const auto outgoing = parts_.layout.outgoing();
    for (std::size_t i = 0; i < outgoing.size(); ++i) {
      const auto& block = outgoing[i];
      if (leads(block)) outgoing_.push_back({&window_.outgoing[i], static_cast<Number>(block.ranks.size())});
      if (!std::ranges::binary_search(block.ranks, rank_)) continue;
      writes_to_.push_back(&window_.outgoing[i]);
      readers.push_back(group.leader(host_, block.host));
    }
    const auto incoming = parts_.layout.incoming();
    for (std::size_t i = 0; i < incoming.size(); ++i) {
      if (!leads(incoming[i])) continue;
      incoming_.push_back({&window_.incoming[i], {}});
      for (const Rank reader : incoming[i].ranks) incoming_.back().readers.push_back(line_of(reader));
      readers.insert(readers.end(), incoming[i].ranks.begin(), incoming[i].ranks.end());
    }
    std::ranges::sort(readers);
    const auto repeated = std::ranges::unique(readers);
    readers.erase(repeated.begin(), repeated.end());
    for (const Rank reader : readers) readers_.push_back(line_of(reader));
  }

  /// Makes all requests. One tag suffices: two leaders have one block for each other in an exchange, and its
  /// pieces are started in order.
  void make_requests() {
    for (std::size_t half = 0; half < 2; ++half) {
      block_of_.clear();
      std::size_t next = 0;
      for (const HostLayout::Block& block : parts_.layout.incoming()) {
        if (!leads(block)) continue;
        incoming_[next].num_pieces = add_requests(block, half, false);
        block_of_.insert(block_of_.end(), incoming_[next].num_pieces, next);
        ++next;
      }
      next = 0;
      for (const HostLayout::Block& block : parts_.layout.outgoing())
        if (leads(block)) outgoing_[next++].num_pieces = add_requests(block, half, true);
    }
    indices_.resize(requests_[0].size());
  }

  /// Adds the requests for the pieces of a block. Returns their number.
  std::size_t add_requests(const exchange::HostLayout::Block& block, std::size_t half, bool is_send) {
    const Rank partner = parts_.group->leader(block.host, host_);
    const Bytes piece = piece_bytes_of(block.bytes, parts_.chunk_bytes);
    std::size_t added = 0;
    for (Bytes begin = 0; begin < block.bytes; begin += piece, ++added) {
      const Segment segment{window_.halves[half] + block.begin + begin, std::min(piece, block.bytes - begin),
                            MPI_BYTE};
      requests_[half].add(is_send ? Requests::Mode::send : Requests::Mode::receive, segment, partner,
                          parts_.tag, parts_.comm->get());
    }
    return added;
  }

  void take_piece(Incoming& block) {
    if (--block.num_left > 0) return;
    block.line->landed.store(number_, std::memory_order_release);
    for (RankLine* const reader : block.readers) tell(*reader, half_);
  }

  bool leads(const exchange::HostLayout::Block& block) const {
    return parts_.group->leader(host_, block.host) == rank_;
  }

  void begin() override {
    ++number_;
    half_ = number_ % 2;
    num_active_ = num_sent_ = num_taken_ = 0;
    state_ = State::waits;
    for (Group& group : groups_) group.is_taken = false;
    for (Outgoing& block : outgoing_) block.is_sent = false;
    enter();
  }

  void go_on() override {
    if (state_ == State::waits) enter();
    if (state_ == State::moves) {
      send_blocks();
      if (num_active_ > 0) take_completed();
      read();
      finish();
    }
    const bool calls_mpi = num_active_ > 0 || !others_are_over_;
    if (!calls_mpi && looks_ % looks_per_progress == looks_per_progress - 1)
      let_mpi_go_on(*parts_.comm, parts_.tag);
  }

  bool is_over() const override { return state_ == State::over; }
  /// Waits before the next check for progress. A rank with requests polls them, as MPI does. A rank without
  /// requests sleeps until its data has arrived.
  void wait_a_little() override {
    if (num_active_ > 0 || !others_are_over_) {
      patience_.found_nothing();
      return;
    }
    const bool only_reads = state_ == State::moves && has_sent();
    if (!only_reads || follows_) {
      std::this_thread::yield();
      return;
    }
    const unsigned looks = parts_.group->is_oversubscribed() ? 0 : looks_before_yield;
    for (unsigned i = 0; i < looks; ++i) {
      if (is_all_here()) return;
      pause_briefly();
    }
    mine_->bell.announce();
    if (!is_all_here()) mine_->bell.sleep(nap_s);
    mine_->bell.withdraw();
    if (!is_all_here()) let_mpi_go_on(*parts_.comm, parts_.tag);
  }

  void land_what_is_here() override {
    for (const Group& group : groups_)
      if (group.is_taken)
        for (const std::size_t source : group.sources) arrivals_.land_piece(source);
  }

  std::vector<Rank> own_waits_for() const override {
    std::vector<Rank> ranks;
    const HostGroup& group = *parts_.group;
    for (std::size_t i = 0; i < window_.ranks.size(); ++i)
      if (!has_reached(window_.ranks[i].posted, number_)) ranks.push_back(group.ranks()[i]);
    const auto incoming = parts_.layout.incoming();
    for (std::size_t i = 0; i < incoming.size(); ++i)
      if (!has_reached(window_.incoming[i].landed, number_))
        ranks.push_back(group.leader(incoming[i].host, host_));
    return ranks;
  }

  void enter() {
    const Number before = number_ - 2;
    if (!std::ranges::all_of(readers_,
                             [=](const RankLine* rank) { return has_reached(rank->finished, before); }))
      return;
    state_ = State::moves;
    for (Incoming& block : incoming_) block.num_left = block.num_pieces;
    num_active_ += block_of_.size();
    requests_[half_].start(0, block_of_.size());
    write();
    send_blocks();
  }

  void write() {
    for (const SharedCopy& copy : writes_) copy.to_memory(window_.halves[half_], parts_.comm->get());
    ++num_events_;
    for (BlockLine* const block : writes_to_) block->ready[half_].fetch_add(1, std::memory_order_acq_rel);
    mine_->posted.store(number_, std::memory_order_release);
    for (RankLine* const rank : writes_for_) tell(*rank, half_);
  }

  /// Sends the blocks that all their writers have written. The blocks' counters are reset here. This is safe,
  /// because the next writers of a block wait until this rank has finished.
  void send_blocks() {
    if (num_sent_ == outgoing_.size()) return;
    std::size_t end = block_of_.size();
    for (auto& [line, writers, num_pieces, is_sent] : outgoing_) {
      const std::size_t begin = std::exchange(end, end + num_pieces);
      if (is_sent || line->ready[half_].load(std::memory_order_acquire) != writers) continue;
      is_sent = true;
      line->ready[half_].store(0, std::memory_order_relaxed);
      ++num_sent_;
      num_active_ += num_pieces;
      ++num_events_;
      requests_[half_].start(begin, end);
    }
  }

  void take_completed() {
    const auto found = requests_[half_].take_completed(false, 0, requests_[half_].size(), indices_);
    for (const int place : found) {
      const auto index = static_cast<std::size_t>(place);
      if (index < block_of_.size()) take_piece(incoming_[block_of_[index]]);
    }
    num_active_ -= found.size();
    num_events_ += std::ssize(found);
    if (!found.empty()) patience_.found_something();
  }

  /// Reads what has arrived. Unless the program asks for single messages, it reads only when everything is
  /// here, because reading earlier gains nothing.
  void read() {
    if (num_taken_ == groups_.size() || (!follows_ && !is_all_here())) return;
    for (Group& group : groups_)
      if (!group.is_taken && has_reached(*group.says, number_)) take(group);
  }

  /// Ends the exchange if everything is sent and read. The counter of arrivals may be reset, because this
  /// half gets no more notifications in this exchange.
  void finish() {
    if (!is_all_here() || !has_sent() || num_taken_ < groups_.size()) return;
    state_ = State::over;
    mine_->arrived[half_].store(0, std::memory_order_relaxed);
    mine_->finished.store(number_, std::memory_order_release);
  }

  void take(Group& group) {
    for (const SharedCopy& copy : group.copies) copy.from_memory(window_.halves[half_], parts_.comm->get());
    group.is_taken = true;
    ++num_taken_;
    ++num_events_;
    if (!follows_) return;
    for (const std::size_t source : group.sources) arrivals_.land_piece(source);
  }

  bool is_all_here() const {
    return mine_->arrived[half_].load(std::memory_order_acquire) == mine_->expected;
  }
  bool has_sent() const { return num_active_ == 0 && num_sent_ == outgoing_.size(); }
  /// Notifies a rank that data for it is in this half. Wakes the rank if this was the last data that it
  /// expects.
  static void tell(RankLine& rank, std::size_t half) {
    const Number arrived = rank.arrived[half].fetch_add(1, std::memory_order_acq_rel) + 1;
    if (arrived == rank.expected) rank.bell.ring();
  }

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

}  // namespace

std::unique_ptr<Run> CombinedParts::around(std::unique_ptr<Run> others, Rank rank, Arrivals& arrivals) {
  return std::make_unique<CombinedRun>(std::move(*this), rank, arrivals, std::move(others));
}

}  // namespace nuice::mpi
