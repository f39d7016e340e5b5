// SPDX-License-Identifier: BSD-3-Clause
// RS_NH, random scheduling avoiding node contention with heaps (000 s.3.3; 004 s.3.3), for messages of
// unequal size; and RS_NLH (000 s.3.3), which avoids link contention as well.
//
// In a phase all wait for the largest transfer. So, as the papers say: each rank sends its largest message
// first, which brings messages of about the same size together; and each phase has a cutoff size, its level:
// messages up to the level go whole, larger ones send that many bytes and keep the rest, with its offset, for
// later phases.
//
// The papers print neither the algorithm nor how the level is chosen ("a reasonable message size"). Ours:
//   * Partners as in RS_N: from a random row on, each row takes its largest entry whose receiver is still
//     free; among equal sizes the order is random. A row is kept sorted, where the papers keep a heap: that
//     gives the same order, and entries behind a taken receiver can be reached without taking the row apart.
//   * The level: a message may be split only if both its ranks have room, that is at least two messages fewer
//     left than the busiest rank. Then they still have fewer than that one after the phase, so splitting
//     costs hardly any phases. The level is the largest message without room, but no less than the mean of
//     the phase, so that parts do not become tiny, and a multiple of 64 bytes.
//   * RS_NLH takes an entry only if its route crosses no link that the phase has filled, and a link counts like a rank:
//     a message has room if also each of its links has at least two messages per slot fewer left than the busiest rank
//     or link.
//   * Problem::prefer_pairs: a phase takes pairs of messages back and forth first, row by row, then single ones (rs_nl.cpp says
//     why). What is left of a message whose mate is finished goes alone.
// At least one message is finished in every phase. Cost: that of RS_N, plus O(degree) per transfer to keep
// rows sorted; 8 bytes per message next to the schedule, and 8 for those of which a part is sent.
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
  MessageId part = whole;  // where its bytes already sent are kept, if there are any
};

struct Pick {
  Rank src;
  Entry* entry;
};

/// What is left to send: a row per sender, largest last, as that is where entries come and go; counts for
/// both ends.
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

  /// The last left_of() bytes of the message are still to be sent.
  Bytes left_of(const Entry& entry) const {
    return matrix_.bytes(entry.id) - (entry.part == whole ? 0 : sent_[entry.part]);
  }

  MessageId most_left_of_a_rank() const {
    return std::max(*std::ranges::max_element(to_send_), *std::ranges::max_element(to_receive_));
  }

  /// The most messages that either rank of this one has left, it included.
  MessageId left_of_its_ranks(const Pick& pick) const {
    return std::max(to_send_[static_cast<std::size_t>(pick.src)],
                    to_receive_[static_cast<std::size_t>(matrix_.dst(pick.entry->id))]);
  }

  /// Takes `bytes` off the entry and moves it to where its rest belongs. True if nothing is left of it.
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
  std::vector<Bytes> sent_;            // by part: of messages of which some bytes are sent and some are not
  std::vector<MessageId> free_parts_;  // places in sent_
  std::vector<MessageId> begin_;       // by sender
  std::vector<MessageId> to_send_;     // by sender: messages with bytes left
  std::vector<MessageId> to_receive_;  // by receiver
};

/// The links of RS_NLH: which are full in a phase, and what is left to cross them.
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
  /// Phases that the messages left on the busiest link need.
  MessageId most_left() const {
    MessageId most = 0;
    for (std::size_t link = 0; link < to_cross_.size(); ++link) {
      most = std::max(most, phases_left(static_cast<std::int32_t>(link)));
    }
    return most;
  }
  /// The same for the busiest link that this message crosses.
  MessageId most_left_for(MessageId id) const {
    MessageId most = 0;
    for (const std::int32_t link : routes_.of(id)) most = std::max(most, phases_left(link));
    return most;
  }

 private:
  MessageId phases_left(std::int32_t link) const {
    const auto slots = static_cast<MessageId>(routes_.slots(link));  // fewer than messages cross it
    return (to_cross_[static_cast<std::size_t>(link)] + slots - 1) / slots;
  }

  Routes routes_;
  LinksOfPhase of_phase_;
  std::vector<MessageId> to_cross_;  // by link: messages with bytes left
};

/// A partial permutation for each phase, as in RS_N; without link contention if there are links; pairs that exchange first, if
/// that is asked for.
class Partners {
 public:
  Partners(const Problem& problem, LinksOfPhase* links)
      : matrix_(problem.matrix),
        links_(links),
        prefers_pairs_(problem.prefer_pairs),
        sends_in_(static_cast<std::size_t>(matrix_.num_ranks()), 0),
        taken_in_(sends_in_) {}

  /// Each row's largest entry whose receiver is free, rows in turn from `first` on. Valid until the next
  /// call.
  const std::vector<Pick>& pick(SortedRows& rows, Rank first) {
    ++phase_;
    if (links_ != nullptr) links_->begin_phase();
    picks_.clear();
    if (prefers_pairs_) for_rows(first, [&](Rank src) { pick_pair(rows, src); });
    for_rows(first, [&](Rank src) { pick_single(rows, src); });
    return picks_;
  }

 private:
  /// Calls body(src) for every row that does not send yet, cyclically.
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
        links_->take(entry.id);  // first, as the way back may cross the same links
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

/// See above. Requires picks; `links` may be null.
Bytes choose_level(const SortedRows& rows, const Links* links, const std::vector<Pick>& picks) {
  const auto left_around = [&](const Pick& pick) {
    const MessageId at_ranks = rows.left_of_its_ranks(pick);
    return links == nullptr ? at_ranks : std::max(at_ranks, links->most_left_for(pick.entry->id));
  };
  const MessageId most_left = links == nullptr ? rows.most_left_of_a_rank()
                                               : std::max(rows.most_left_of_a_rank(), links->most_left());
  Bytes sum = 0;  // of all messages at most, so no overflow
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
  // Room for the parts too: memory that is not used takes addresses only, but growing would copy everything.
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
