// SPDX-License-Identifier: BSD-3-Clause
#include "advise/reasons.hpp"

#include <array>
#include <cstdio>

namespace nuice::advice {
namespace {

std::string format(const char* pattern, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

std::string percent(double share) { return format("%.0f %%", 100 * share); }

std::string basis(Prediction prediction) {
  switch (prediction) {
    case Prediction::rule:
      return "by the rule of thumb";
    case Prediction::simulation:
      return "simulated";
  }
  return {};
}

/// Says whether the other candidate loses time in planning or in the exchange.
std::string why_dearer(const Candidate& other, const Candidate& choice, double reuse) {
  const double more = other.total_s - choice.total_s;
  if (more < 0 && other.predicted_by < choice.predicted_by) {
    return "promises " + time_text(other.exchange_s) + " per exchange " + basis(other.predicted_by) +
           " only; candidates that were predicted more closely come first";
  }
  const double more_planning = (other.planning_s - choice.planning_s) / reuse;
  std::string text =
      more <= 0 ? "no better: " : format("%.2f times the choice's total: ", other.total_s / choice.total_s);
  if (more_planning > more / 2) {
    text += "planning takes " + time_text(other.planning_s) + ", too much for so few reuses";
  } else {
    text += "an exchange takes " + time_text(other.exchange_s) + " (" + basis(other.predicted_by) +
            ") instead of " + time_text(choice.exchange_s);
  }
  return text;
}

std::string how_decided(const Advice& advice) {
  if (advice.decided_by != Prediction::rule) return {};
  if (advice.budget_s == 0) return " Predicted by the rule of thumb, as requested.";
  return " Decided by the rule of thumb: simulation would exceed the budget of " +
         time_text(advice.budget_s) + ", or take longer than it is likely to save.";
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds * 1e9 < 999.5) return format("%.3g ns", seconds * 1e9);
  if (seconds * 1e6 < 999.5) return format("%.3g us", seconds * 1e6);
  if (seconds * 1e3 < 999.5) return format("%.3g ms", seconds * 1e3);
  return format("%.4g s", seconds);
}

void explain(Advice& advice) {
  const Candidate& choice = advice.choice();
  for (Candidate& candidate : advice.candidates) {
    if (!candidate.applicable) continue;
    candidate.why_not =
        &candidate == &choice ? "" : why_dearer(candidate, choice, static_cast<double>(advice.reuse));
  }
  advice.sentence = "Chose " + choice.name() + ": predicted " + time_text(choice.exchange_s) + " +- " +
                    percent(choice.uncertainty) + " per exchange (" + basis(choice.predicted_by) + ")";
  if (choice.to_bound > 0) advice.sentence += format(", %.2f times the bound", choice.to_bound);
  advice.sentence += "; making and checking the schedule takes " + time_text(choice.planning_s) + ", over " +
                     std::to_string(advice.reuse) + (advice.reuse == 1 ? " use." : " uses.");
  if (advice.candidates.size() > 1 && advice.candidates[1].applicable &&
      advice.candidates[1].total_s >= choice.total_s) {
    advice.sentence += " Next: " + advice.candidates[1].name() + ", +" +
                       percent(advice.candidates[1].total_s / choice.total_s - 1) + ".";
  }
  const std::size_t contenders = advice.num_contenders();
  if (contenders > 1)
    advice.sentence +=
        " " + std::to_string(contenders) + " candidates are within the error of the prediction.";
  advice.sentence += how_decided(advice);
}

}  // namespace nuice::advice
