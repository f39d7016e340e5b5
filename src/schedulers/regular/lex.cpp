// SPDX-License-Identifier: BSD-3-Clause
// LEX, linear exchange (001 s.3.1): in step i every rank that has a message for rank i sends it, n steps in
// all. With some messages left out it is called linear scheduling (LS, 001 s.4.1), so lex and ls share this
// file.
//
// All send to one receiver at a time: node contention in every step, hence no one_port. 001 shows it as what
// not to do (tables 5, 11, 12). Steps of receivers that get nothing are left out. Any number of ranks. Cost:
// O(messages + n).
#include <vector>

#include "schedulers/rows.hpp"

namespace nuice::sched {

Schedule make_lex(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  std::vector<PhaseId> phase_of(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    phase_of[id] = static_cast<PhaseId>(matrix.dst(id));
  return Schedule::of_whole_messages(matrix, phase_of, static_cast<PhaseId>(matrix.num_ranks()));
}

}  // namespace nuice::sched
