// SPDX-License-Identifier: BSD-3-Clause
// KPBS: each phase costs c bytes in addition to its longest piece (Problem::phase_cost_bytes). Takes the
// cheaper of two schedules.
//
// The first schedule is the schedule of Cohen, Jeannot, Padoy and Wagner (IEEE TPDS 17(10), 2006) for
// k-preemptive bipartite scheduling, without their limit of k transfers at a time. Sizes are rounded up to
// multiples of c, the cost of a phase, so that no phase is shorter than its cost. Then matchings are peeled,
// starting with large edges. Let B be the bytes of the busiest rank and D the maximum degree. Every schedule
// costs at least B + c D. The rounded matrix has at most B + c D bytes per rank, so the phases together take
// at most that long. Each phase takes at least c. Hence
//
//   cost = sum over phases of (c + largest piece) <= 2 (B + c D), at most twice the least
//
// The second schedule is that of coloring_by_size. If c is at least a hundredth of an average message,
// splitting does not pay, and the second schedule usually is much nearer to the minimum. If c = 0, the first
// schedule is birkhoff's. Cost: the sum for both schedules.
#include <algorithm>
#include <utility>

#include "schedulers/graph/peeling.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// Returns the cost as a double, which cannot overflow. Costs count as equal if they differ by less than a
/// double's precision.
double cost(const Schedule& schedule, Bytes phase_cost_bytes) {
  return static_cast<double>(phase_bytes(schedule)) +
         static_cast<double>(phase_cost_bytes) * static_cast<double>(schedule.num_phases());
}

}  // namespace

std::string why_not_kpbs(const Problem& problem) {
  if (problem.phase_cost_bytes < 0 || problem.phase_cost_bytes > max_bytes) {
    return "the cost of a phase is not between 0 and 2^62 bytes";
  }
  return why_not_peeling(problem);
}

Schedule make_kpbs(const Problem& problem) {
  Schedule split = peel_large_first(problem.matrix, std::max<Bytes>(problem.phase_cost_bytes, 1));
  Schedule whole = make_coloring_by_size(problem);
  const bool splitting_pays = cost(split, problem.phase_cost_bytes) < cost(whole, problem.phase_cost_bytes);
  if (splitting_pays) std::swap(split, whole);
  return whole;
}

}  // namespace nuice::sched
