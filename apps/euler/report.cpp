// SPDX-License-Identifier: BSD-3-Clause
#include "euler/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "nuice/bounds.hpp"

namespace nuice::euler {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

// Written so that what is not a number is wrong.
bool Finding::is_right() const {
  return (!at_most || value <= *at_most) && (!at_least || value >= *at_least);
}

bool Report::is_right() const {
  return std::ranges::all_of(findings, &Finding::is_right) &&
         std::ranges::all_of(methods, &MethodReport::same_states);
}

std::string to_text(const Report& report) {
  const Bounds bounds = lower_bounds(report.halo.pattern);
  std::string text = fmt::format(
      "{}: {} points, {} edges, {} ranks, {} time steps\n"
      "halo: {} messages, {} bytes, {} phases by {} ({}), at least {} are needed\n\n{:10} {:>12} {:>14}\n",
      report.problem, report.num_points, report.num_edges, report.num_ranks, report.num_steps,
      report.halo.plan.num_messages, bounds.total_bytes, report.halo.plan.num_phases,
      report.halo.plan.scheduler, mpi::executor_name(report.halo.plan.executor), bounds.max_degree,
      "exchange", "all steps ms", "one halo us");
  for (const MethodReport& method : report.methods)
    text += fmt::format("{:10} {:>12.3f} {:>14}{}\n", method.name, 1e3 * method.seconds,
                        method.exchange_s ? fmt::format("{:.2f}", 1e6 * *method.exchange_s) : "-",
                        method.same_states ? "" : "   OTHER RESULT");
  text += '\n';
  for (const Finding& finding : report.findings) {
    std::string bound;
    if (finding.at_most) bound = fmt::format("   (at most {:g})", *finding.at_most);
    if (finding.at_least) bound = fmt::format("   (at least {:g})", *finding.at_least);
    text += fmt::format("{:44} {:>12.5g}{}{}\n", finding.text, finding.value, bound,
                        finding.is_right() ? "" : "  WRONG");
  }
  if (report.exchange_ratio)
    text +=
        fmt::format("one halo with nuice takes {:.3f} x the best of the others\n", *report.exchange_ratio);
  return text;
}

std::string to_json(const Report& report) {
  const Bounds bounds = lower_bounds(report.halo.pattern);
  Json findings = Json::object();
  for (const Finding& finding : report.findings) findings[finding.key] = finding.value;
  Json methods = Json::array();
  for (const MethodReport& method : report.methods)
    methods.push_back({{"name", method.name},
                       {"seconds", method.seconds},
                       {"exchange_seconds_median", or_null(method.exchange_s)},
                       {"same_states", method.same_states}});
  const Json json = {{"problem", report.problem},
                     {"ranks", report.num_ranks},
                     {"points", report.num_points},
                     {"edges", report.num_edges},
                     {"steps", report.num_steps},
                     {"scheduler", report.halo.plan.scheduler},
                     {"executor", mpi::executor_name(report.halo.plan.executor)},
                     {"messages", report.halo.plan.num_messages},
                     {"phases", report.halo.plan.num_phases},
                     {"max_degree", bounds.max_degree},
                     {"bytes", bounds.total_bytes},
                     {"findings", findings},
                     {"right", report.is_right()},
                     {"methods", methods},
                     {"exchange_ratio_to_best_mpi", or_null(report.exchange_ratio)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nuice::euler
