// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/pieces.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nuice::sched {

Schedule schedule_of(const CommMatrix& matrix, const Pieces& pieces, const std::vector<PhaseId>& phase_of) {
  std::vector<std::size_t> order(phase_of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) { return std::pair(phase_of[at], pieces.messages[at]); });
  std::vector<Bytes> sent(matrix.num_messages(), 0);
  Schedule schedule(matrix.num_ranks());
  schedule.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || phase_of[order[i]] != phase_of[order[i - 1]]) schedule.begin_phase();
    const MessageId id = pieces.messages[order[i]];
    const Piece piece{id, sent[id], pieces.bytes[order[i]]};
    sent[id] += piece.bytes;
    schedule.add(matrix.src(id), matrix.dst(id), {&piece, 1});
  }
  return schedule;
}

}  // namespace nuice::sched
