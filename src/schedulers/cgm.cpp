// SPDX-License-Identifier: BSD-3-Clause
// CGM, compact global masking (003 figs 5, 6), later called RS_N (NICE fig. 6; 004 fig. 4): the printed
// algorithms are the same, so the rows cgm and rs_n share this file and give the same schedule for the same
// seed.
//
// The matrix is compressed to its entries (CCOM), each row in random order so that rows do not all try the
// same receivers first. Each phase starts at a random row and gives every row, cyclically, its first entry
// whose receiver is still free; the row's last entry moves into the gap, so that no used entry is ever
// visited again. Expected: d + log d phases and O(d n ln d) time for d messages per rank to random
// destinations (003 s.4); always at most twice the maximum degree minus one phases. 8 bytes per message.
#include <vector>

#include "nuice/random.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// CCOM with prt: row `src` holds the ids of its messages that are not yet scheduled, in the first left(src)
/// places.
class CompressedRows {
 public:
  CompressedRows(const CommMatrix& matrix, Random& random) : ids_(matrix.num_messages()) {
    begin_.reserve(static_cast<std::size_t>(matrix.num_ranks()));
    for (MessageId id = 0; id < matrix.num_messages(); ++id) ids_[id] = id;
    for (Rank src = 0; src < matrix.num_ranks(); ++src) {
      const auto sent = matrix.sent_by(src);
      begin_.push_back(sent.empty() ? 0 : sent.front());
      left_.push_back(static_cast<MessageId>(sent.size()));
      random.shuffle(row(src));
    }
  }

  std::span<MessageId> row(Rank src) {
    const auto index = static_cast<std::size_t>(src);
    return {ids_.data() + begin_[index], left_[index]};
  }
  void remove(Rank src, MessageId& entry) {
    entry = row(src).back();
    --left_[static_cast<std::size_t>(src)];
  }

 private:
  std::vector<MessageId> ids_;
  std::vector<MessageId> begin_;
  std::vector<MessageId> left_;  // prt + 1
};

}  // namespace

Schedule make_compact_masking(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  const Rank num_ranks = matrix.num_ranks();
  Random random(problem.seed);
  CompressedRows rows(matrix, random);
  std::vector<PhaseId> phase_of(matrix.num_messages());
  std::vector<PhaseId> taken_in(static_cast<std::size_t>(num_ranks),
                                0);  // phase + 1 in which a receiver was last taken
  PhaseId phase = 0;
  for (MessageId left = matrix.num_messages(); left > 0; ++phase) {
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
