// SPDX-License-Identifier: BSD-3-Clause
// KPBS: phases cost c bytes each in addition to their longest piece (Problem::phase_cost_bytes); schedules the cheaper of two.
//
// The first is that of Cohen, Jeannot, Padoy and Wagner (IEEE TPDS 17(10), 2006) for k-preemptive bipartite scheduling,
// without their limit of k transfers at a time: sizes are rounded up to multiples of c, so that no phase is shorter than
// it costs, and matchings are peeled, those of large edges first. With B the bytes of the busiest rank and D the maximum
// degree every schedule costs at least B + c D; the rounded matrix has at most B + c D bytes at a rank, its phases take
// no longer together and are at least c long each. Hence
//
//   cost = sum over phases of (c + largest piece) <= 2 (B + c D), at most twice the least
//
// The second is coloring_by_size, which mostly is much nearer to the least once c is a hundredth of a mean message or
// more: then splitting does not pay. Without a cost, c = 0, the first is birkhoff.
// Cost: that of both parts.
#include <algorithm>
#include <utility>

#include "schedulers/graph/peeling.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// A double holds it without overflow, and costs that differ by less than its precision are as good as equal.
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
