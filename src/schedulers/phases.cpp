// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/phases.hpp"

#include <vector>

namespace nuice::sched {

Schedule from_phases(const CommMatrix& matrix, std::span<const PhaseId> phase_of, PhaseId num_phases) {
  std::vector<MessageId> end(num_phases + std::size_t{1}, 0);  // counting sort by phase; ids stay ascending
  for (const PhaseId phase : phase_of) ++end[phase + std::size_t{1}];
  for (std::size_t phase = 0; phase < num_phases; ++phase) end[phase + 1] += end[phase];
  std::vector<MessageId> next(end.begin(), end.end() - 1);
  std::vector<MessageId> by_phase(phase_of.size());
  for (MessageId id = 0; id < phase_of.size(); ++id) by_phase[next[phase_of[id]]++] = id;

  Schedule schedule(matrix.num_ranks());
  schedule.reserve(by_phase.size(), by_phase.size());
  for (std::size_t phase = 0; phase < num_phases; ++phase) {
    schedule.begin_phase();
    for (MessageId at = end[phase]; at < end[phase + 1]; ++at) schedule.add_whole(matrix, by_phase[at]);
  }
  return schedule;
}

std::string always_applicable(const Problem& /*problem*/) { return {}; }

}  // namespace nuice::sched
