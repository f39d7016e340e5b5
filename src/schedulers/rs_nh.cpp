// SPDX-License-Identifier: BSD-3-Clause
// RS_NH, random scheduling avoiding node contention with heaps (000 s.3.3; 004 s.3.3), for messages of
// unequal size; and RS_NLH (000 s.3.3), which avoids link contention as well.
//
// In a phase all ranks wait for the largest transfer. The papers therefore have two rules. Each rank sends
// its largest message first, so that messages of similar size share a phase. And each phase has a cutoff
// size, its level. Messages up to the level are sent whole. Of a larger message the phase sends as many bytes
// as the level, and later phases send the rest.
//
// The papers print neither the algorithm nor how the level is chosen ("a reasonable message size"). NUICE
// does the following:
// * Partners as in RS_N: starting at a random row, each row takes its largest entry whose receiver is still
//   free. Entries of equal size are in random order. Rows are sorted arrays, while the papers use heaps. The
//   order is the same, and if the receiver of an entry is taken, the entries after it can be reached without
//   removing it.
// * The level: a message may be split only if both its ranks have room, that is, at least two fewer messages
//   left than the busiest rank. After the phase they then still have fewer messages than the busiest rank, so
//   splitting adds hardly any phases. The level is the size of the largest message whose ranks have no room,
//   but at least the average of the phase, so that parts do not become tiny. It is a multiple of 64 bytes.
// * RS_NLH takes an entry only if its route crosses no link that is full in the phase. A link counts like a
//   rank: each link of a message must also have at least two fewer messages per slot left than the busiest
//   rank or link.
// * With Problem::prefer_pairs a phase first takes pairs of messages that go in both directions between two
//   ranks, row by row. Then it takes single messages; rs_nl.cpp gives the reason. If one message of a pair is
//   finished, the rest of the other one is sent alone.
// At least one message is finished in every phase. Cost: the cost of RS_N, plus O(degree) per transfer to
// keep rows sorted. Memory in addition to the schedule: 8 bytes per message, and 8 more per partly sent
// message.
#include <algorithm>
#include <functional>
#include <limits>
#include <ranges>
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "nuice/core/random.hpp"
#include "schedulers/graph/routes.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

constexpr Bytes level_unit_bytes = 64;

constexpr MessageId whole = std::numeric_limits<MessageId>::max();

struct Entry {
  MessageId id;
  MessageId part = whole;  // the place in sent_ that says how many bytes are already sent
};

struct Pick {
  Rank src;
  Entry* entry;
};

/// The messages, or rests of messages, that are left to send, in one row per sender. Also counts them per
/// sender and per receiver. The largest message of a row is last, because rows change at their end.
class SortedRows {
 public:
  SortedRows(const CommMatrix& matrix, Random& random) : matrix_(matrix) {
    entries_.reserve(matrix.num_messages());
    for (MessageId id = 0; id < matrix.num_messages(); ++id) entries_.push_back({id});
    for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
      const auto sent = matrix.sent_by(rank);
      begin_.push_back(sent.empty() ? 0 : sent.front());
      to_send_.push_back(static_cast<MessageId>(sent.size()));
      to_receive_.push_back(static_cast<MessageId>(matrix.received_by(rank).size()));
      random.shuffle(row(rank));
      std::ranges::stable_sort(row(rank), {}, [&](const Entry& entry) { return matrix.bytes(entry.id); });
    }
  }

  std::span<Entry> row(Rank src) {
    const auto index = static_cast<std::size_t>(src);
    return {entries_.data() + begin_[index], to_send_[index]};
  }

  /// Returns the bytes that are left to send, which are the last bytes of the message.
  Bytes left_of(const Entry& entry) const {
    return matrix_.bytes(entry.id) - (entry.part == whole ? 0 : sent_[entry.part]);
  }

  MessageId most_left_of_a_rank() const {
    return std::max(*std::ranges::max_element(to_send_), *std::ranges::max_element(to_receive_));
  }

  /// Returns the number of messages left at the sender or at the receiver of `pick`, whichever number is
  /// larger. It includes this message.
  MessageId left_of_its_ranks(const Pick& pick) const {
    return std::max(to_send_[static_cast<std::size_t>(pick.src)],
                    to_receive_[static_cast<std::size_t>(matrix_.dst(pick.entry->id))]);
  }

  /// Subtracts `bytes` from the entry, and moves the entry to the place of its remaining size. Returns
  /// whether nothing is left of it.
  bool send(const Pick& pick, Bytes bytes) {
    Entry* const at = pick.entry;
    const Bytes left = left_of(*at) - bytes;
    const std::span<Entry> whole_row = row(pick.src);
    if (left == 0) {
      if (at->part != whole) free_parts_.push_back(at->part);
      --to_send_[static_cast<std::size_t>(pick.src)];
      --to_receive_[static_cast<std::size_t>(matrix_.dst(at->id))];
      std::move(at + 1, whole_row.data() + whole_row.size(), at);
      return true;
    }
    count_sent(*at, bytes);
    Entry* const place = std::ranges::lower_bound(whole_row.data(), at, left, std::less{},
                                                  [this](const Entry& entry) { return left_of(entry); });
    std::rotate(place, at, at + 1);
    return false;
  }

 private:
  void count_sent(Entry& entry, Bytes bytes) {
    if (entry.part == whole && free_parts_.empty()) {
      entry.part = static_cast<MessageId>(sent_.size());
      sent_.push_back(0);
    } else if (entry.part == whole) {
      entry.part = free_parts_.back();
      free_parts_.pop_back();
      sent_[entry.part] = 0;
    }
    sent_[entry.part] += bytes;
  }

  const CommMatrix& matrix_;
  std::vector<Entry> entries_;
  std::vector<Bytes> sent_;            // by part: bytes already sent of partly sent messages
  std::vector<MessageId> free_parts_;  // places in sent_
  std::vector<MessageId> begin_;       // by sender
  std::vector<MessageId> to_send_;     // by sender: messages with bytes left
  std::vector<MessageId> to_receive_;  // by receiver
};

/// The links of RS_NLH: whether each link is full in a phase, and how many remaining messages cross it.
class Links {
 public:
  explicit Links(const Problem& problem) : routes_(problem), of_phase_(routes_) {
    for (std::size_t link = 0; link < routes_.num_links(); ++link) {
      to_cross_.push_back(routes_.load(static_cast<std::int32_t>(link)));
    }
  }

  LinksOfPhase& of_phase() { return of_phase_; }
  void finish(MessageId id) {
    for (const std::int32_t link : routes_.of(id)) --to_cross_[static_cast<std::size_t>(link)];
  }
  /// Returns how many phases the remaining messages of the busiest link need.
  MessageId most_left() const {
    MessageId most = 0;
    for (std::size_t link = 0; link < to_cross_.size(); ++link) {
      most = std::max(most, phases_left(static_cast<std::int32_t>(link)));
    }
    return most;
  }
  /// Like most_left(), for the busiest link that this message crosses.
  MessageId most_left_for(MessageId id) const {
    MessageId most = 0;
    for (const std::int32_t link : routes_.of(id)) most = std::max(most, phases_left(link));
    return most;
  }

 private:
  MessageId phases_left(std::int32_t link) const {
    const auto slots = static_cast<MessageId>(routes_.slots(link));  // fewer than the messages that cross it
    return (to_cross_[static_cast<std::size_t>(link)] + slots - 1) / slots;
  }

  Routes routes_;
  LinksOfPhase of_phase_;
  std::vector<MessageId> to_cross_;  // by link: messages with bytes left
};

/// Finds a partial permutation for each phase, as in RS_N. If links are given, the phase has no link
/// contention. If prefer_pairs is set, pairs in both directions are taken first.
class Partners {
 public:
  Partners(const Problem& problem, LinksOfPhase* links)
      : matrix_(problem.matrix),
        links_(links),
        prefers_pairs_(problem.prefer_pairs),
        sends_in_(static_cast<std::size_t>(matrix_.num_ranks()), 0),
        taken_in_(sends_in_) {}

  /// Picks each row's largest entry whose receiver is free. Visits the rows cyclically, beginning at row
  /// `first`. The result is valid until the next call.
  const std::vector<Pick>& pick(SortedRows& rows, Rank first) {
    ++phase_;
    if (links_ != nullptr) links_->begin_phase();
    picks_.clear();
    if (prefers_pairs_) for_rows(first, [&](Rank src) { pick_pair(rows, src); });
    for_rows(first, [&](Rank src) { pick_single(rows, src); });
    return picks_;
  }

 private:
  /// Calls body(src) for every row that does not send yet, in cyclic order.
  template <typename Body>
  void for_rows(Rank first, Body body) {
    const Rank num_ranks = matrix_.num_ranks();
    Rank src = first;
    for (Rank visited = 0; visited < num_ranks; ++visited, src = src + 1 == num_ranks ? 0 : src + 1)
      if (!is_marked(sends_in_, src)) body(src);
  }

  void pick_single(SortedRows& rows, Rank src) {
    for (Entry& entry : rows.row(src) | std::views::reverse) {
      if (!has_room_for(entry.id)) continue;
      take({src, &entry});
      return;
    }
  }

  void pick_pair(SortedRows& rows, Rank src) {
    if (is_marked(taken_in_, src)) return;
    for (Entry& entry : rows.row(src) | std::views::reverse) {
      const Rank dst = matrix_.dst(entry.id);
      if (is_marked(sends_in_, dst) || !has_room_for(entry.id)) continue;
      const std::span<Entry> theirs = rows.row(dst);
      const auto back = std::ranges::find(theirs, src, [&](const Entry& e) { return matrix_.dst(e.id); });
      if (back == theirs.end()) continue;
      if (links_ != nullptr) {
        links_->take(entry.id);  // tried first, because the message in the other direction may cross the same
                                 // links
        const bool fits = links_->has_room_for(back->id);
        links_->release(entry.id);
        if (!fits) continue;
      }
      take({src, &entry});
      take({dst, &*back});
      return;
    }
  }

  bool is_marked(const std::vector<PhaseId>& marks, Rank rank) const {
    return marks[static_cast<std::size_t>(rank)] == phase_;
  }
  bool has_room_for(MessageId id) const {
    return !is_marked(taken_in_, matrix_.dst(id)) && (links_ == nullptr || links_->has_room_for(id));
  }
  void take(const Pick& pick) {
    if (links_ != nullptr) links_->take(pick.entry->id);
    sends_in_[static_cast<std::size_t>(pick.src)] = phase_;
    taken_in_[static_cast<std::size_t>(matrix_.dst(pick.entry->id))] = phase_;
    picks_.push_back(pick);
  }

  const CommMatrix& matrix_;
  LinksOfPhase* links_;  // may be null
  bool prefers_pairs_;
  PhaseId phase_ = 0;              // from 1 on
  std::vector<PhaseId> sends_in_;  // by sender: phase in which it last sent
  std::vector<PhaseId> taken_in_;  // by receiver: phase in which it was last taken
  std::vector<Pick> picks_;
};

/// Chooses the level as described at the top of this file. Requires picks; `links` may be null.
Bytes choose_level(const SortedRows& rows, const Links* links, const std::vector<Pick>& picks) {
  const auto left_around = [&](const Pick& pick) {
    const MessageId at_ranks = rows.left_of_its_ranks(pick);
    return links == nullptr ? at_ranks : std::max(at_ranks, links->most_left_for(pick.entry->id));
  };
  const MessageId most_left = links == nullptr ? rows.most_left_of_a_rank()
                                               : std::max(rows.most_left_of_a_rank(), links->most_left());
  Bytes sum = 0;  // at most the sum of all messages, so it cannot overflow
  Bytes largest_without_room = 0;
  for (const Pick& pick : picks) {
    const Bytes left = rows.left_of(*pick.entry);
    sum += left;
    const bool has_room = left_around(pick) + 2 <= most_left;
    if (!has_room) largest_without_room = std::max(largest_without_room, left);
  }
  const Bytes mean = (sum - 1) / static_cast<Bytes>(picks.size()) + 1;
  const Bytes level = std::max(mean, largest_without_room);
  return (level - 1) / level_unit_bytes * level_unit_bytes + level_unit_bytes;
}

/// `links` may be null.
Schedule make_by_level(const Problem& problem, Links* links) {
  const CommMatrix& matrix = problem.matrix;
  Random random(problem.seed);
  SortedRows rows(matrix, random);
  Partners partners(problem, links == nullptr ? nullptr : &links->of_phase());
  Schedule schedule(matrix.num_ranks());
  // Reserves memory also for parts, because unused memory costs only addresses, but growing would copy
  // everything.
  schedule.reserve(matrix.num_messages() + std::size_t{matrix.num_messages()} / 4);
  for (MessageId left = matrix.num_messages(); left > 0;) {
    check_interrupt();
    const auto first = static_cast<Rank>(random.below(static_cast<std::uint64_t>(matrix.num_ranks())));
    const std::vector<Pick>& picks = partners.pick(rows, first);
    const Bytes level = choose_level(rows, links, picks);
    schedule.begin_phase();
    for (const Pick& pick : picks) {
      const MessageId id = pick.entry->id;
      const Bytes left_bytes = rows.left_of(*pick.entry);
      const Bytes bytes = std::min(level, left_bytes);
      const Piece piece{id, matrix.bytes(id) - left_bytes, bytes};
      schedule.add(pick.src, matrix.dst(id), {&piece, 1});
      if (!rows.send(pick, bytes)) continue;
      if (links != nullptr) links->finish(id);
      --left;
    }
  }
  return schedule;
}

}  // namespace

Schedule make_rs_nh(const Problem& problem) { return make_by_level(problem, nullptr); }

Schedule make_rs_nlh(const Problem& problem) {
  Links links(problem);
  return make_by_level(problem, &links);
}

}  // namespace nuice::sched
