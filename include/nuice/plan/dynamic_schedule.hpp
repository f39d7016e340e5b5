// SPDX-License-Identifier: BSD-3-Clause
// Update instead of rebuild: a schedule that follows its matrix, at a cost that grows with the change.
//
//   DynamicSchedule live(matrix, make_schedule(matrix, "coloring"));
//   live.apply(changes);                    // {3, 5, 4096}: that size from now on; {0, 2, 0}: no message any more
//   live.table(7);                          // what rank 7 has to do now
//   check(live.matrix(), live.schedule(live.matrix()), direct | one_port | fewest_phases);  // all of it, O(messages)
//
// The method: bipartite edge colouring kept up to date. A new message takes a phase in which both its ranks are free;
// if there is none, messages exchange two phases along an alternating path (D. Koenig, Math. Annalen 77, 1916), which
// always makes room within as many phases as the maximum degree.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nuice/core/check.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice {

namespace update {
struct State;
}

/// What a batch of changes came to, in messages.
struct Update {
  std::size_t added = 0;
  std::size_t removed = 0;
  std::size_t resized = 0;  ///< Stay in their phase.
  std::size_t moved = 0;    ///< Changes of phase of messages that stay, to make room or to need fewer phases.
  bool planned_anew =
      false;  ///< `coloring` planned all messages again, as paths had become more expensive than that.
  friend bool operator==(const Update&, const Update&) = default;
};

/// A schedule of whole messages without node contention that can be changed. Memory: about 40 bytes per message.
///
/// Phases. Messages that are added never make more phases than the maximum degree. When removals lower the maximum
/// degree, the phases above it are emptied little by little, so that no single change is expensive: every added or
/// removed message pays for moving moves_per_change messages down. phases_above_max_degree() says how many are left.
class DynamicSchedule {
 public:
  static constexpr std::size_t moves_per_change = 4;

  /// O(messages). Throws Error mismatch if the schedule does not deliver the matrix, not_applicable if it splits or
  /// forwards messages or has node contention.
  DynamicSchedule(const CommMatrix& matrix, const Schedule& schedule);
  DynamicSchedule(DynamicSchedule&&) noexcept;
  DynamicSchedule& operator=(DynamicSchedule&&) noexcept;
  ~DynamicSchedule();

  /// Each entry is the new size of a message; 0 for none. A message to itself is only recorded.
  /// Cost for k entries, whatever the number of messages: O(k (degree + log k)) and, for an added message that finds
  /// no phase in which both ranks are free, O(log degree) per message of its path: 2 num_ranks at most, usually few.
  /// When the paths of a batch come to an eighth of all messages, `coloring` plans all of them again instead: so never more than a
  /// few times what that takes.
  /// Throws Error, with nothing changed: invalid_argument for a rank outside the matrix, a negative size or a pair
  /// given twice; limit for a size or a sum of all sizes above max_bytes. The message names the pair.
  Update apply(std::span<const Message> changes);
  /// apply() of one entry.
  Update set(Rank src, Rank dst, Bytes bytes);

  /// Empties all phases above the maximum degree now. Returns the number of messages moved.
  /// Cost: for each of those as for an added one, or that of planning all again; nothing if there are none.
  std::size_t compact();

  Rank num_ranks() const;
  MessageId num_messages() const;
  MessageId max_degree() const;
  /// Phases with messages.
  PhaseId num_phases() const;
  PhaseId phases_above_max_degree() const;

  /// What the last apply(), set() or compact() did, checked on its own: every message concerned has the size asked
  /// for, both its ranks agree on its phase, and the places that it left are empty or their new owner's. If the
  /// schedule was right before, it is right after. Nothing if so, otherwise the first violation.
  /// O(log degree) per message changed or moved, of all messages if they were planned again. It looks at the result only, not at how it was reached.
  std::optional<Violation> check_changes() const;
  /// The ranks at either end of those messages, ascending: for all others table() gives what it did, but for the
  /// number of phases, and the numbers of phases where one fell empty.
  std::vector<Rank> changed_ranks() const;

  /// The slice of one rank, equal to slice(matrix(), schedule(matrix()), rank).
  /// O(degree log degree + num_phases). Throws Error invalid_argument for a rank outside the matrix.
  PhaseTable table(Rank rank) const;

  /// What has become of matrix and schedule. O(messages).
  CommMatrix matrix() const;
  /// Throws Error mismatch unless `matrix` equals matrix().
  Schedule schedule(const CommMatrix& matrix) const;

 private:
  std::unique_ptr<update::State> state_;
};

}  // namespace nuice
