// SPDX-License-Identifier: BSD-3-Clause
// Functions of a finished advice: its schedule, and the candidates that are near the choice.
#include <algorithm>

#include "advise/candidates.hpp"
#include "advise/reasons.hpp"
#include "core/support/table.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice {
namespace {

constexpr core::Named<Prediction> predictions[] = {{"rule", Prediction::rule},
                                                   {"simulation", Prediction::simulation}};

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

}  // namespace nuice
