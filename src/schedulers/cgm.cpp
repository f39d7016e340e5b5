// SPDX-License-Identifier: BSD-3-Clause
// CGM, compact global masking (003 figs 5, 6), later called RS_N (NICE fig. 6; 004 fig. 4). The printed
// algorithms are the same, so cgm and rs_n share this file and give the same schedule for the same seed.
//
// The matrix is compressed to its entries (CCOM). Each row is in random order, so that not all rows try the
// same receivers first. Each phase starts at a random row and visits the rows cyclically. It takes from every
// row the first entry whose receiver is still free. The row's last entry moves into the gap, so used entries
// are never visited again. For d messages per rank to random destinations, d + log d phases and O(d n ln d)
// time are expected (003 s.4). With maximum degree D there are at most 2 D - 1 phases. 8 bytes per message.
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "schedulers/graph/compressed_rows.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
Schedule make_compact_masking(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  const Rank num_ranks = matrix.num_ranks();
  Random random(problem.seed);
  CompressedRows rows(matrix, random);
  std::vector<PhaseId> phase_of(matrix.num_messages());
  std::vector<PhaseId> taken_in(static_cast<std::size_t>(num_ranks), 0);  // by receiver: its last phase + 1
  PhaseId phase = 0;
  for (MessageId left = matrix.num_messages(); left > 0; ++phase) {
    check_interrupt();
    Rank src = static_cast<Rank>(random.below(static_cast<std::uint64_t>(num_ranks)));
    for (Rank visited = 0; visited < num_ranks; ++visited, src = src + 1 == num_ranks ? 0 : src + 1) {
      for (MessageId& id : rows.row(src)) {
        PhaseId& taken = taken_in[static_cast<std::size_t>(matrix.dst(id))];
        if (taken == phase + 1) continue;
        taken = phase + 1;
        phase_of[id] = phase;
        rows.remove(src, id);
        --left;
        break;
      }
    }
  }
  return Schedule::of_whole_messages(matrix, phase_of, phase);
}

}  // namespace nuice::sched
