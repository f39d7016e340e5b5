// SPDX-License-Identifier: BSD-3-Clause
// RS_NL, random scheduling avoiding node and link contention (000 s.3.3): RS_N with the link contention of
// 000 s.2.1. Each phase starts at a random row and visits the rows cyclically. It takes from every row the
// first entry whose receiver is free and whose route crosses no full link. Routes are static and come from
// the Topology.
//
// 000 prints no separate algorithm, and defines link contention for links that carry one message at a time.
// Here a link of larger capacity is full when it carries as many messages as it has slots.
//
// With Problem::prefer_pairs, if there is a message in the other direction too, both messages are sent in the
// same phase. A phase first takes such pairs, row by row, then single messages. On the iPSC/860 two ranks
// exchange in the time of one message if they start together, which is why LP wins there on dense matrices
// (000 s.6). Preferring pairs costs phases.
//
// Cost: O(messages * (length of a route)) per phase in the worst case, because every entry may be tried. 8
// bytes per message, plus the routes (graph/routes.hpp). Each phase takes at least one message; no better
// bound on the number of phases is known.
#include <algorithm>
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "schedulers/graph/compressed_rows.hpp"
#include "schedulers/graph/routes.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// The phase that is being filled.
class Phase {
 public:
  Phase(const CommMatrix& matrix, const Routes& routes)
      : matrix_(matrix),
        links_(routes),
        sends_in_(static_cast<std::size_t>(matrix.num_ranks()), 0),
        receives_in_(sends_in_) {}

  void begin() {
    ++number_;
    links_.begin_phase();
  }
  bool sends(Rank src) const { return sends_in_[static_cast<std::size_t>(src)] == number_; }
  bool receives(Rank dst) const { return receives_in_[static_cast<std::size_t>(dst)] == number_; }
  /// Whether the phase can take a message whose sender does not send yet.
  bool has_room_for(MessageId id) const { return !receives(matrix_.dst(id)) && links_.has_room_for(id); }
  void take(MessageId id) {
    sends_in_[static_cast<std::size_t>(matrix_.src(id))] = number_;
    receives_in_[static_cast<std::size_t>(matrix_.dst(id))] = number_;
    links_.take(id);
  }
  /// Reverses take(id).
  void release(MessageId id) {
    sends_in_[static_cast<std::size_t>(matrix_.src(id))] = 0;
    receives_in_[static_cast<std::size_t>(matrix_.dst(id))] = 0;
    links_.release(id);
  }

 private:
  const CommMatrix& matrix_;
  LinksOfPhase links_;
  PhaseId number_ = 0;  // from 1 on
  std::vector<PhaseId> sends_in_;
  std::vector<PhaseId> receives_in_;
};

class RandomScheduling {
 public:
  explicit RandomScheduling(const Problem& problem)
      : matrix_(problem.matrix),
        random_(problem.seed),
        rows_(matrix_, random_),
        routes_(problem),
        phase_(matrix_, routes_),
        phase_of_(matrix_.num_messages()),
        left_(matrix_.num_messages()) {
    if (problem.prefer_pairs) find_mates();
  }

  Schedule run() {
    for (; left_ > 0; ++num_phases_) {
      check_interrupt();
      phase_.begin();
      const auto first = static_cast<Rank>(random_.below(static_cast<std::uint64_t>(matrix_.num_ranks())));
      if (!mate_.empty()) for_rows(first, [this](Rank src) { take_pair(src); });
      for_rows(first, [this](Rank src) { take_single(src); });
    }
    return Schedule::of_whole_messages(matrix_, phase_of_, num_phases_);
  }

 private:
  static constexpr MessageId none = ~MessageId{0};

  /// Calls body(src) for every row that does not send yet, in cyclic order.
  template <typename Body>
  void for_rows(Rank first, Body body) {
    const Rank num_ranks = matrix_.num_ranks();
    Rank src = first;
    for (Rank visited = 0; visited < num_ranks; ++visited, src = src + 1 == num_ranks ? 0 : src + 1) {
      if (!phase_.sends(src)) body(src);
    }
  }

  void take_single(Rank src) {
    for (MessageId& entry : rows_.row(src)) {
      if (mate_of(entry) != none || !phase_.has_room_for(entry)) continue;
      take(entry);
      return;
    }
  }

  void take_pair(Rank src) {
    if (phase_.receives(src)) return;
    for (MessageId& entry : rows_.row(src)) {
      const MessageId mate = mate_of(entry);
      const Rank dst = matrix_.dst(entry);
      if (mate == none || phase_.sends(dst) || !phase_.has_room_for(entry)) continue;
      phase_.take(entry);  // tried first, because the message in the other direction may cross the same links
      const bool fits = phase_.has_room_for(mate);
      phase_.release(entry);
      if (!fits) continue;
      take(entry);
      take(*std::ranges::find(rows_.row(dst), mate));
      return;
    }
  }

  void take(MessageId& entry) {
    phase_of_[entry] = num_phases_;
    phase_.take(entry);
    --left_;
    rows_.remove(matrix_.src(entry), entry);
  }

  MessageId mate_of(MessageId id) const { return mate_.empty() ? none : mate_[id]; }

  /// Finds each message's mate, which is the message in the other direction. A message has no mate if not
  /// even an empty phase could take both.
  void find_mates() {
    mate_.assign(matrix_.num_messages(), none);
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) {
      const auto back = matrix_.find(matrix_.dst(id), matrix_.src(id));
      if (!back || *back < id) continue;
      phase_.begin();
      phase_.take(id);
      if (!phase_.has_room_for(*back)) continue;
      mate_[id] = *back;
      mate_[*back] = id;
    }
  }

  const CommMatrix& matrix_;
  Random random_;
  CompressedRows rows_;
  Routes routes_;
  Phase phase_;
  std::vector<MessageId> mate_;  // by message, or empty
  std::vector<PhaseId> phase_of_;
  MessageId left_;
  PhaseId num_phases_ = 0;
};

}  // namespace

Schedule make_rs_nl(const Problem& problem) { return RandomScheduling(problem).run(); }

}  // namespace nuice::sched
