// SPDX-License-Identifier: BSD-3-Clause
// List scheduling of ports and links, for executors that start a transfer when the transfers before it on its
// route have finished (depend). It is meant for unequal sizes.
//
// A clock counts bytes. Whenever transfers end, the messages that wait for the freed ports and links are
// tried. The first is the message whose busiest port or link has the most bytes left. A message begins if all
// its ports and links are free. After a quantum of bytes a message must compete again, so a long message does
// not delay a more urgent one. If no other message takes its place, it continues as the same transfer.
// The rule (most remaining work first, with preemption) is a heuristic. An open shop with preemption has a
// schedule in which the busiest machine is never idle (Gonzalez and Sahni, J. ACM 23, 1976), but even without
// links this rule does not always find it.
//
// Phases are the levels of the resulting order: a transfer is in the first phase after the phases of all
// transfers that used its ports and links before. So no phase has link contention. Phases say nothing about
// times, and there may be more phases than necessary.
//
// Cost: O(transfers * links of a route * 64), because at most 64 of the messages that wait for a port or link
// are tried. 8 bytes per message and link of its route.
#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "nuice/core/dependencies.hpp"
#include "nuice/core/interrupt.hpp"
#include "schedulers/graph/routes.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// The minimum bytes of a piece. Pieces must be long enough for notifications to arrive in time.
constexpr Bytes least_quantum = 131072;
static_assert(least_quantum >= 2 * default_early_bytes);
/// The maximum number of quanta into which the bytes of a port or link are divided.
constexpr Bytes most_parts = 256;
constexpr std::size_t most_looked_at = 64;

class LinkList {
 public:
  LinkList(const CommMatrix& matrix, const Routes& routes)
      : matrix_(matrix),
        routes_(routes),
        num_ranks_(static_cast<std::size_t>(matrix.num_ranks())),
        needs_(2 * num_ranks_ + routes.num_links()),
        left_(matrix.num_messages()),
        running_(matrix.num_messages(), no_transfer) {
    for (std::size_t need = 0; need < needs_.size(); ++need)
      needs_[need].levels.assign(static_cast<std::size_t>(slots(need)), 0);
    for (MessageId id = 0; id < matrix.num_messages(); ++id) {
      left_[id] = matrix.bytes(id);
      for_needs(id, [&](Need& need) {
        need.work = left_[id] > max_bytes - need.work ? max_bytes : need.work + left_[id];
      });
    }
    for (const Need& need : needs_)
      quantum_ = std::max(quantum_, need.work / (std::ssize(need.levels) * most_parts));
    queue_all();
  }

  Schedule make() {
    std::vector<MessageId> waiting(matrix_.num_messages());
    std::iota(waiting.begin(), waiting.end(), MessageId{0});
    begin_what_can(waiting);
    while (!ends_.empty()) {
      check_interrupt();
      now_ = ends_.top().first;
      waiting.clear();
      ++look_;
      while (!ends_.empty() && ends_.top().first == now_) {
        end(ends_.top().second, waiting);
        ends_.pop();
      }
      begin_what_can(waiting);
    }
    return by_levels();
  }

 private:
  static constexpr std::size_t no_transfer = ~std::size_t{0};

  struct Need {
    Bytes work = 0;  // bytes not yet begun, over all its slots
    std::int64_t in_use = 0;
    std::vector<MessageId> queue;  // unfinished messages, in the order of their urgency at the beginning
    std::vector<PhaseId> levels;   // by slot: the phase after its last transfer
  };
  struct Piece {
    MessageId message;
    Bytes offset;
    Bytes bytes;
    PhaseId phase;
  };

  std::int64_t slots(std::size_t need) const {
    const std::size_t ports = 2 * num_ranks_;
    if (need < ports) return 1;
    const auto link = static_cast<std::int32_t>(need - ports);
    return std::min<std::int64_t>(routes_.slots(link), routes_.load(link));
  }

  template <typename Body>
  void for_needs(MessageId id, Body body) {
    body(needs_[static_cast<std::size_t>(matrix_.src(id))]);
    body(needs_[num_ranks_ + static_cast<std::size_t>(matrix_.dst(id))]);
    for (const std::int32_t link : routes_.of(id))
      body(needs_[2 * num_ranks_ + static_cast<std::size_t>(link)]);
  }

  /// Returns the bytes that the message's busiest port or link still has to carry, per slot.
  Bytes urgency(MessageId id) {
    Bytes most = 0;
    for_needs(id, [&](const Need& need) { most = std::max(most, need.work / std::ssize(need.levels)); });
    return most;
  }

  void sort(std::vector<MessageId>& ids) {
    keys_.clear();
    for (const MessageId id : ids) keys_.emplace_back(-urgency(id), -left_[id], id);
    std::ranges::sort(keys_);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = std::get<2>(keys_[i]);
  }

  void queue_all() {
    std::vector<MessageId> all(matrix_.num_messages());
    std::iota(all.begin(), all.end(), MessageId{0});
    sort(all);
    for (const MessageId id : all) for_needs(id, [&](Need& need) { need.queue.push_back(id); });
    seen_.assign(matrix_.num_messages(), 0);
  }

  /// Frees the message's ports and links. Adds the messages that wait for them to `waiting`.
  void end(MessageId id, std::vector<MessageId>& waiting) {
    just_ended_.push_back(std::exchange(running_[id], no_transfer));
    for_needs(id, [&](Need& need) {
      --need.in_use;
      if (left_[id] == 0) std::erase(need.queue, id);
      std::size_t looked_at = 0;
      for (const MessageId other : need.queue) {
        if (running_[other] != no_transfer || std::exchange(seen_[other], look_) == look_) continue;
        waiting.push_back(other);
        if (++looked_at == most_looked_at) break;
      }
    });
  }

  void begin_what_can(std::vector<MessageId>& waiting) {
    std::erase_if(waiting, [&](MessageId id) { return left_[id] == 0 || running_[id] != no_transfer; });
    sort(waiting);
    for (const MessageId id : waiting) {
      bool can = true;
      for_needs(id, [&](const Need& need) { can = can && need.in_use < std::ssize(need.levels); });
      if (can) begin(id);
    }
    just_ended_.clear();
  }

  void begin(MessageId id) {
    const Bytes bytes = left_[id] / 2 <= quantum_ ? left_[id] : quantum_;
    const auto same = std::ranges::find_if(
        just_ended_, [&](std::size_t piece) { return pieces_[piece].message == id && goes_on(piece); });
    if (same != just_ended_.end()) {
      running_[id] = *same;
      pieces_[*same].bytes += bytes;
    } else {
      running_[id] = pieces_.size();
      pieces_.push_back({id, matrix_.bytes(id) - left_[id], bytes, next_level(id)});
    }
    left_[id] -= bytes;
    for_needs(id, [&](Need& need) {
      need.work = std::max<Bytes>(0, need.work - bytes);
      ++need.in_use;
    });
    ends_.emplace(now_ + static_cast<double>(bytes), id);
  }

  /// Returns whether the same transfer can continue. It can if no message has taken a slot in a later phase
  /// on its route. This always holds on ports and links with one slot.
  bool goes_on(std::size_t piece) {
    bool same = true;
    for_needs(pieces_[piece].message, [&](const Need& need) {
      same = same && std::ranges::find(need.levels, pieces_[piece].phase + 1) != need.levels.end();
    });
    return same;
  }

  PhaseId next_level(MessageId id) {
    PhaseId level = 0;
    for_needs(id, [&](const Need& need) { level = std::max(level, *std::ranges::min_element(need.levels)); });
    for_needs(id, [&](Need& need) { *std::ranges::min_element(need.levels) = level + 1; });
    return level;
  }

  Schedule by_levels() const {
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return std::pair(pieces_[i].phase, pieces_[i].message); });
    Schedule schedule(matrix_.num_ranks());
    schedule.reserve(pieces_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Piece& at = pieces_[order[i]];
      if (i == 0 || at.phase != pieces_[order[i - 1]].phase) schedule.begin_phase();
      const nuice::Piece piece{at.message, at.offset, at.bytes};
      schedule.add(matrix_.src(at.message), matrix_.dst(at.message), {&piece, 1});
    }
    return schedule;
  }

  const CommMatrix& matrix_;
  const Routes& routes_;
  std::size_t num_ranks_;
  std::vector<Need> needs_;           // ports out, ports in, links
  std::vector<Bytes> left_;           // by message: bytes not yet begun
  std::vector<std::size_t> running_;  // by message: index in pieces_
  std::vector<Piece> pieces_;
  std::vector<std::size_t> just_ended_;
  std::priority_queue<std::pair<double, MessageId>, std::vector<std::pair<double, MessageId>>, std::greater<>>
      ends_;
  std::vector<std::uint64_t> seen_;  // for each message: the search in which it was last added
  std::uint64_t look_ = 0;
  std::vector<std::tuple<Bytes, Bytes, MessageId>> keys_;
  Bytes quantum_ = least_quantum;
  double now_ = 0;
};

}  // namespace

Schedule make_link_list(const Problem& problem) {
  if (problem.matrix.num_messages() == 0) return Schedule(problem.matrix.num_ranks());
  const Routes routes(problem);
  return LinkList(problem.matrix, routes).make();
}

}  // namespace nuice::sched
