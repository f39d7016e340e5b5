// SPDX-License-Identifier: BSD-3-Clause
// What nuice-euler prints.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/halo_report.hpp"
#include "kit/table.hpp"
#include "kit/units.hpp"

namespace nuice::euler {

struct MethodReport {
  std::string name;
  double seconds = 0;       // of all steps
  bool same_states = true;  // equal to the first method's, to the last bit
};

/// A measured value, and its bounds if it has any.
struct Finding {
  std::string key;
  std::string text;
  double value;
  std::optional<double> at_most = {};
  std::optional<double> at_least = {};

  // Written so that NaN is wrong.
  bool is_right() const { return (!at_most || value <= *at_most) && (!at_least || value >= *at_least); }
};

struct Report {
  std::string problem;
  int num_ranks = 0;
  std::int64_t num_points = 0;
  std::int64_t num_edges = 0;
  int num_steps = 0;
  apps::HaloFacts halo;
  std::vector<Finding> findings;
  std::vector<MethodReport> methods;
  apps::HaloTimes times;  // by method, of one update of the flow's ghosts

  bool is_right() const {
    return std::ranges::all_of(findings, &Finding::is_right) &&
           std::ranges::all_of(methods, &MethodReport::same_states);
  }
};

using kit::Json;
using kit::or_null;

inline std::string to_text(const Report& report) {
  kit::Table methods("exchange|all steps ms|one halo us");
  for (std::size_t i = 0; i < report.methods.size(); ++i)
    methods.row("{}|{:.3f}|{}|{}", report.methods[i].name, 1e3 * report.methods[i].seconds,
                kit::decimals(report.times.exchange_s[i], 2, 1e6),
                report.methods[i].same_states ? "" : "OTHER RESULT");
  kit::Table findings("found|value");
  for (const Finding& finding : report.findings) {
    findings.row("{}|{:.5g}", finding.text, finding.value);
    if (finding.at_most) findings.append(fmt::format("(at most {:g})", *finding.at_most));
    if (finding.at_least) findings.append(fmt::format("(at least {:g})", *finding.at_least));
    if (!finding.is_right()) findings.append("WRONG");
  }
  return fmt::format("{}: {} points, {} edges, {} ranks, {} time steps\n", report.problem, report.num_points,
                     report.num_edges, report.num_ranks, report.num_steps) +
         apps::halo_text(report.halo) + "\n" + methods.text() + "\n" + findings.text() +
         apps::ratio_text(report.times.ratio);
}

inline std::string to_json(const Report& report) {
  Json findings = Json::object();
  for (const Finding& finding : report.findings) findings[finding.key] = finding.value;
  Json methods = Json::array();
  for (std::size_t i = 0; i < report.methods.size(); ++i)
    methods.push_back({{"name", report.methods[i].name},
                       {"seconds", report.methods[i].seconds},
                       {"exchange_seconds_median", or_null(report.times.exchange_s[i])},
                       {"same_states", report.methods[i].same_states}});
  Json json = {{"problem", report.problem},
               {"ranks", report.num_ranks},
               {"points", report.num_points},
               {"edges", report.num_edges},
               {"steps", report.num_steps}};
  apps::append_halo(json, report.halo);
  json.update({{"findings", findings},
               {"right", report.is_right()},
               {"methods", methods},
               {"exchange_ratio_to_best_mpi", or_null(report.times.ratio)}});
  return kit::line(json);
}

}  // namespace nuice::euler
