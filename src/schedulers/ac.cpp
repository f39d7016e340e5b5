// SPDX-License-Identifier: BSD-3-Clause
// AC, asynchronous communication (NICE fig. 4; 003 fig. 2): nothing is scheduled.
//
// One phase holds all messages; the executor posts all receives, then all sends, then waits. 004 s.3.1 sends
// in random order: in a fixed order all ranks would begin with the same receivers. Strip mining (003 s.3.1)
// is the executor's (PlanOptions::max_sends_in_flight): it bounds what is under way and changes no order.
// Cost: O(messages).
#include <vector>

#include "nuice/core/random.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

Schedule make_ac(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  Random random(problem.seed);
  Schedule schedule(matrix.num_ranks());
  schedule.reserve(matrix.num_messages());
  std::vector<MessageId> row;
  for (Rank src = 0; src < matrix.num_ranks(); ++src) {
    const auto sent = matrix.sent_by(src);
    row.assign(sent.begin(), sent.end());
    random.shuffle(std::span(row));
    for (const MessageId id : row) schedule.add_whole(matrix, id);
  }
  return schedule;
}

}  // namespace nuice::sched
