// SPDX-License-Identifier: BSD-3-Clause
// Writes an advice as JSON, for programs, and as a table, for people.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "advise/reasons.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Candidate& c) {
  Json object{{"candidate", c.name()},
              {"scheduler", c.scheduler},
              {"executor", c.executor},
              {"applicable", c.applicable}};
  if (c.applicable) {
    object.update({{"predicted_by", prediction_name(c.predicted_by)},
                   {"phases", c.phases},
                   {"phase_bytes", c.phase_bytes},
                   {"planning_seconds", c.planning_s},
                   {"exchange_seconds", c.exchange_s},
                   {"total_seconds", c.total_s},
                   {"exchange_to_bound", c.to_bound},
                   {"uncertainty", c.uncertainty}});
  }
  object["why_not"] = c.why_not;
  return object;
}

std::string padded(const std::string& text, std::size_t width, bool left = false) {
  const std::string space(width - std::min(width, text.size()), ' ');
  return left ? text + space : space + text;
}

}  // namespace

std::string to_json(const Advice& advice) {
  Json candidates = Json::array();
  for (const Candidate& candidate : advice.candidates) candidates.push_back(json_of(candidate));
  const Json object{{"machine", advice.machine},
                    {"topology", advice.topology},
                    {"ranks", advice.num_ranks},
                    {"messages", advice.num_messages},
                    {"total_bytes", advice.total_bytes},
                    {"reuse", advice.reuse},
                    {"seed", advice.seed},
                    {"port_bound_seconds", advice.port_bound_s},
                    {"link_bound_seconds", advice.link_bound_s},
                    {"phase_cost_bytes", advice.phase_cost_bytes},
                    {"prefer_pairs", advice.prefer_pairs},
                    {"choice", advice.choice().name()},
                    {"sentence", advice.sentence},
                    {"decided_by", prediction_name(advice.decided_by)},
                    {"deciding_seconds", advice.deciding_s},
                    {"budget_seconds", advice.budget_s},
                    {"contenders", advice.num_contenders()},
                    {"candidates", std::move(candidates)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const Advice& advice) {
  using advice::time_text;
  std::size_t width = 9;
  for (const Candidate& c : advice.candidates) width = std::max(width, c.name().size());
  std::string text = advice.sentence + "\n\n" + padded("candidate", width, true) +
                     "   total       exchange    planning    why not\n";
  for (const Candidate& c : advice.candidates) {
    text += padded(c.name(), width, true);
    if (c.applicable) {
      text += "   " + padded(time_text(c.total_s), 9) + "   " + padded(time_text(c.exchange_s), 9) + "   " +
              padded(time_text(c.planning_s), 9) + "   " + (c.why_not.empty() ? "the choice" : c.why_not) +
              "\n";
    } else {
      text += "   not applicable: " + c.why_not + "\n";
    }
  }
  return text;
}

}  // namespace nuice
