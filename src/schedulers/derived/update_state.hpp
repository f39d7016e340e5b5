// SPDX-License-Identifier: BSD-3-Clause
// What a DynamicSchedule keeps: every message by sender and receiver, and the same messages by phase.
#pragma once

#include <string>
#include <vector>

#include "nuice/plan/dynamic_schedule.hpp"
#include "schedulers/graph/phase_grid.hpp"

namespace nuice::update {

inline std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

struct State {
  struct Record {
    Rank dst;
    PhaseId phase;
    Bytes bytes;
  };
  /// A place that a message left: it must be empty now, or belong to a message that knows of it.
  struct Left {
    Rank src;
    Rank dst;
    PhaseId phase;
  };

  explicit State(Rank num_ranks);

  Rank num_ranks() const { return static_cast<Rank>(records.size()); }
  MessageId max_degree() const { return static_cast<MessageId>(ranks_of_degree.size()) - 1; }
  const Record* find(Rank src, Rank dst) const;
  Record* find(Rank src, Rank dst);
  std::vector<Record>::iterator place_of(Rank src, Rank dst);

  void forget_last_changes();
  void count_message(Rank src, Rank dst, int by);
  Bytes require_applicable(std::span<const Message> changes) const;
  void add_record(const Message& message);
  bool remove(Rank src, Rank dst);
  void place(Rank src, Rank dst, PhaseId phase);
  void take_out(Rank src, Rank dst, PhaseId phase);
  void put_in(Rank src, Rank dst);
  std::size_t empty_high_phases(std::size_t most_moves);
  /// Paths have become more expensive than planning again.
  bool is_worth_planning_anew() const;
  void plan_anew();
  std::size_t finish(bool is_done);
  CommMatrix matrix() const;

  std::vector<std::vector<Record>> records;  // by sender; by ascending receiver
  sched::PhaseGrid grid;
  std::vector<MessageId> num_sends;             // by rank
  std::vector<MessageId> num_receives;          // by rank
  std::vector<std::size_t> ranks_of_degree{0};  // senders and receivers by degree; the last one is not 0
  std::vector<Bytes> self_bytes;                // by rank
  Bytes total_bytes = 0;                        // those of ranks to themselves included
  MessageId num_messages = 0;

  // Of the last change:
  bool is_planned_anew = false;  // then moves and left are empty, and num_moved counts
  std::size_t num_moved = 0;
  std::vector<Message> asked;
  std::vector<sched::PhaseMove> moves;
  std::vector<Left> left;
};

std::string pair_text(Rank src, Rank dst);

/// See DynamicSchedule.
std::optional<Violation> check_changes(const State& state);

}  // namespace nuice::update
