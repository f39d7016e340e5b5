// SPDX-License-Identifier: BSD-3-Clause
// Update instead of rebuild: a schedule that follows its matrix entry by entry.
//
//   Schedule plan = make_schedule(matrix, "coloring");
//   Schedule next = update_schedule(matrix, plan, changed_matrix);     // messages that stay keep their phase
//
// or, for a matrix that keeps changing, without going over all messages each time:
//   DynamicSchedule live(matrix, plan);
//   live.set(3, 5, 4096);  live.set(0, 2, 0);                          // 0 bytes: no message any more
//   live.compact();                                                    // back to max-degree phases, if needed
#pragma once

#include <span>
#include <vector>

#include "nuice/schedule.hpp"

namespace nuice {

/// A schedule of whole messages without node contention, kept as who sends and receives in which phase.
/// Memory: 24 bytes per message.
class DynamicSchedule {
 public:
  /// O(messages). Throws Error mismatch if the schedule does not deliver the matrix, not_applicable if it splits or
  /// forwards messages or has node contention.
  DynamicSchedule(const CommMatrix& matrix, const Schedule& schedule);

  /// Makes the message from src to dst `bytes` long; 0 removes it. A new message takes the lowest phase in
  /// which both ranks are free. If there is none and there are as many phases as the maximum degree then is,
  /// messages exchange phases along an alternating path (Koenig). A message to itself is only recorded.
  /// Cost: O(degree * path), where a path has 2 num_ranks messages at most and usually few.
  /// Throws Error invalid_argument for a rank outside the matrix or a negative size, limit for one above max_bytes.
  void set(Rank src, Rank dst, Bytes bytes);

  /// After removals there may be more phases than the maximum degree: dissolves the smallest ones until there are not.
  /// Cost: that of set() for every message of the dissolved phases; nothing if there are none.
  void compact();

  Rank num_ranks() const { return static_cast<Rank>(sends_.size()); }
  PhaseId num_phases() const { return static_cast<PhaseId>(phase_size_.size()); }
  MessageId max_degree() const { return static_cast<MessageId>(ranks_of_degree_.size()) - 1; }

  /// What has become of them. O(messages). Throws Error limit if the sizes together are above max_bytes.
  CommMatrix matrix() const;
  /// Requires matrix() or one that is equal to it.
  Schedule schedule(const CommMatrix& matrix) const;

 private:
  struct Send {
    PhaseId phase;
    Rank to;
    Bytes bytes;
  };
  struct Receive {
    PhaseId phase;
    Rank from;
  };
  struct Pair {
    Rank src;
    Rank dst;
  };

  std::vector<Send>& sends(Rank src) { return sends_[static_cast<std::size_t>(src)]; }
  std::vector<Receive>& receives(Rank dst) { return receives_[static_cast<std::size_t>(dst)]; }
  Send* find_send(Rank src, Rank dst);
  Receive& receive_of(Pair pair);
  void put(Rank src, Rank dst, Bytes bytes);
  void remove(Rank src, Rank dst);
  void place(Rank src, Rank dst, Bytes bytes, PhaseId phase);
  void move(Pair pair, PhaseId phase);
  PhaseId free_phase_for(Rank src, Rank dst, PhaseId num_phases);
  void exchange_along_path(Rank dst, PhaseId a, PhaseId b);
  void change_degree(std::size_t from, std::size_t to);
  void dissolve_smallest_phase();

  std::vector<std::vector<Send>> sends_;        // by rank, in no order
  std::vector<std::vector<Receive>> receives_;  // by rank, in no order
  std::vector<Bytes> self_bytes_;               // by rank
  std::vector<MessageId> phase_size_;           // by phase; the last one is not 0
  std::vector<std::size_t> ranks_of_degree_;    // senders and receivers by degree; the last one is not 0
};

/// A schedule for `after` in which every message that `before` has too keeps its phase where possible; as many phases
/// as the maximum degree of `after` (compact() is called). Sizes may differ.
/// Cost: O(messages log degree) to check, compare and write down, about what planning anew with `coloring` takes; and
/// that of set() for every pair that is only in one of the two.
/// Throws Error as the constructor does, mismatch if the numbers of ranks differ.
Schedule update_schedule(const CommMatrix& before, const Schedule& schedule, const CommMatrix& after);

}  // namespace nuice
