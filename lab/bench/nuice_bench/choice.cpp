// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/choice.hpp"

#include <algorithm>

#include "nuice/plan/advise.hpp"

namespace nuice::bench {

Choice Choice::of(const mpi::Plan& plan) {
  const Advice& advice = *plan.advice();
  Choice choice{.candidate = advice.choice().name(),
                .predicted_s = plan.info().predicted_s,
                .machine = advice.machine,
                .sentence = advice.sentence,
                .warning = plan.info().warning,
                .advice = to_json(advice),
                .predictions = {}};
  for (const Candidate& candidate : advice.candidates)
    if (candidate.applicable && candidate.predicted_by != Prediction::measurement)
      choice.predictions.emplace_back(candidate.name(), candidate.exchange_s);
  return choice;
}

std::optional<double> Choice::prediction(const std::string& name) const {
  if (name == candidate) return predicted_s;
  const auto known = std::ranges::find(predictions, name, &std::pair<std::string, double>::first);
  return known == predictions.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace nuice::bench
