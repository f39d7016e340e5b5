// SPDX-License-Identifier: BSD-3-Clause
#include "euler/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/halo_report.hpp"

namespace nuice::euler {

using apps::Json;
using apps::or_null;

// Written so that what is not a number is wrong.
bool Finding::is_right() const {
  return (!at_most || value <= *at_most) && (!at_least || value >= *at_least);
}

bool Report::is_right() const {
  return std::ranges::all_of(findings, &Finding::is_right) &&
         std::ranges::all_of(methods, &MethodReport::same_states);
}

std::string to_text(const Report& report) {
  std::string text =
      fmt::format("{}: {} points, {} edges, {} ranks, {} time steps\n{}\n{:10} {:>12} {:>14}\n",
                  report.problem, report.num_points, report.num_edges, report.num_ranks, report.num_steps,
                  apps::halo_text(report.halo), "exchange", "all steps ms", "one halo us");
  for (const MethodReport& method : report.methods)
    text += fmt::format("{:10} {:>12.3f} {:>14}{}\n", method.name, 1e3 * method.seconds,
                        apps::exchange_text(method.exchange_s), method.same_states ? "" : "   OTHER RESULT");
  text += '\n';
  for (const Finding& finding : report.findings) {
    std::string bound;
    if (finding.at_most) bound = fmt::format("   (at most {:g})", *finding.at_most);
    if (finding.at_least) bound = fmt::format("   (at least {:g})", *finding.at_least);
    text += fmt::format("{:44} {:>12.5g}{}{}\n", finding.text, finding.value, bound,
                        finding.is_right() ? "" : "  WRONG");
  }
  return text + apps::ratio_text(report.exchange_ratio);
}

std::string to_json(const Report& report) {
  Json findings = Json::object();
  for (const Finding& finding : report.findings) findings[finding.key] = finding.value;
  Json methods = Json::array();
  for (const MethodReport& method : report.methods)
    methods.push_back({{"name", method.name},
                       {"seconds", method.seconds},
                       {"exchange_seconds_median", or_null(method.exchange_s)},
                       {"same_states", method.same_states}});
  Json json = {{"problem", report.problem},
               {"ranks", report.num_ranks},
               {"points", report.num_points},
               {"edges", report.num_edges},
               {"steps", report.num_steps}};
  apps::append_halo(json, report.halo);
  json.update({{"findings", findings},
               {"right", report.is_right()},
               {"methods", methods},
               {"exchange_ratio_to_best_mpi", or_null(report.exchange_ratio)}});
  return apps::to_line(json);
}

}  // namespace nuice::euler
