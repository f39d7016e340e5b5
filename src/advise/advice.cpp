// SPDX-License-Identifier: BSD-3-Clause
// What can be done with an advice once it is there: its schedule, which candidates are near the choice, and measured times.
#include <algorithm>
#include <tuple>
#include <utility>

#include "advise/candidates.hpp"
#include "advise/reasons.hpp"
#include "core/support/table.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice {
namespace {

constexpr core::Named<Prediction> predictions[] = {{"rule", Prediction::rule},
                                                   {"simulation", Prediction::simulation},
                                                   {"measurement", Prediction::measurement}};

}  // namespace

std::string_view prediction_name(Prediction prediction) { return core::name_of(predictions, prediction); }

Prediction find_prediction(std::string_view name) {
  return core::require_row(predictions, "prediction", name).value;
}

std::size_t Advice::num_contenders() const {
  const double reach = choice().total_s + choice().exchange_s * choice().uncertainty;
  std::size_t count = 1;
  while (count < candidates.size() && candidates[count].applicable &&
         candidates[count].total_s - candidates[count].exchange_s * candidates[count].uncertainty < reach) {
    ++count;
  }
  return count;
}

Schedule advised_schedule(const CommMatrix& matrix, const Machine& machine, const Advice& advice) {
  if (!find_executor(advice.choice().executor).needs_schedule()) return Schedule(matrix.num_ranks());
  if (advice.schedule) return *advice.schedule;
  return make_schedule(advice::problem_of(matrix, machine, advice.seed), advice.choice().scheduler);
}

Advice with_measurements(Advice advice, std::span<const MeasuredExchange> measured, double uncertainty) {
  const auto fail = [](const std::string& reason) { throw Error(ErrorCode::invalid_argument, reason); };
  if (measured.empty()) fail("no candidate was measured");
  for (const auto& [index, seconds] : measured) {
    if (index >= advice.candidates.size() || !advice.candidates[index].applicable)
      fail("measured candidate " + std::to_string(index) + " is none, or not applicable");
    if (!(seconds > 0))
      fail("candidate " + advice.candidates[index].name() + " was measured with no time above 0");
  }
  const std::string before = advice.choice().scheduler;
  for (const auto& [index, seconds] : measured) {
    Candidate& candidate = advice.candidates[index];
    candidate.predicted_by = Prediction::measurement;
    candidate.exchange_s = seconds;
    candidate.total_s = candidate.planning_s / static_cast<double>(advice.reuse) + seconds;
    candidate.to_bound = advice.bound_s > 0 ? seconds / advice.bound_s : 0;
    candidate.uncertainty = uncertainty;
  }
  std::ranges::stable_sort(advice.candidates, std::less{}, [](const Candidate& c) {
    return std::tuple(!c.applicable, c.predicted_by != Prediction::measurement, c.total_s);
  });
  advice.decided_by = Prediction::measurement;
  if (advice.choice().scheduler != before) advice.schedule = nullptr;
  advice::explain(advice);
  return advice;
}

}  // namespace nuice
