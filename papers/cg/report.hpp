// SPDX-License-Identifier: BSD-3-Clause
// What nuice-cg prints.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/halo_report.hpp"
#include "kit/table.hpp"
#include "kit/units.hpp"

namespace nuice::cg {

struct MethodReport {
  std::string name;
  int iterations = 0;
  double solve_s = 0;
  bool same_solution = true;  // equal to the first method's, to the last bit
};

struct Report {
  std::string problem;
  int num_rhs = 1;
  int num_ranks = 0;
  std::int64_t num_rows = 0;
  std::int64_t num_entries = 0;
  apps::HaloFacts halo;
  double relative_residual = 0;
  bool converged = false;
  std::optional<int> sequential_iterations = {};
  std::optional<double> sequential_difference = {};  // max |x - x_sequential| / max |x_sequential|
  std::vector<MethodReport> methods = {};
  apps::HaloTimes times = {};  // by method

  /// Returns whether the solution agrees with that of the sequential program, if this was run.
  bool is_right() const {
    const bool as_sequential =
        !sequential_iterations ||
        (*sequential_iterations == methods.front().iterations && *sequential_difference <= 1e-12);
    return converged && as_sequential && std::ranges::all_of(methods, &MethodReport::same_solution);
  }
};

using kit::Json;
using kit::or_null;

inline std::string to_text(const Report& report) {
  const std::string rhs = report.num_rhs == 1 ? "" : fmt::format("{} right-hand sides, ", report.num_rhs);
  std::string text = fmt::format("{}: {} rows, {} entries, {}{} ranks\n{}\n", report.problem, report.num_rows,
                                 report.num_entries, rhs, report.num_ranks, apps::halo_text(report.halo));
  kit::Table table("exchange|iterations|solve ms|one halo us");
  for (std::size_t i = 0; i < report.methods.size(); ++i)
    table.row("{}|{}|{:.3f}|{}", report.methods[i].name, report.methods[i].iterations,
              1e3 * report.methods[i].solve_s, kit::decimals(report.times.exchange_s[i], 2, 1e6));
  text +=
      table.text() + fmt::format("\n{}: |r| / |b| = {:.2e}", report.converged ? "converged" : "NOT CONVERGED",
                                 report.relative_residual);
  if (report.sequential_iterations)
    text += fmt::format("; sequentially {} iterations, greatest relative difference {:.1e}",
                        *report.sequential_iterations, *report.sequential_difference);
  return text + "\n" + apps::ratio_text(report.times.ratio);
}

inline std::string to_json(const Report& report) {
  Json methods = Json::array();
  for (std::size_t i = 0; i < report.methods.size(); ++i)
    methods.push_back({{"name", report.methods[i].name},
                       {"iterations", report.methods[i].iterations},
                       {"solve_seconds", report.methods[i].solve_s},
                       {"exchange_seconds_median", or_null(report.times.exchange_s[i])},
                       {"same_solution", report.methods[i].same_solution}});
  Json json = {{"problem", report.problem},
               {"ranks", report.num_ranks},
               {"rows", report.num_rows},
               {"entries", report.num_entries},
               {"right_hand_sides", report.num_rhs}};
  apps::append_halo(json, report.halo);
  json.update({{"converged", report.converged},
               {"relative_residual", report.relative_residual},
               {"sequential_iterations", or_null(report.sequential_iterations)},
               {"sequential_difference", or_null(report.sequential_difference)},
               {"methods", methods},
               {"exchange_ratio_to_best_mpi", or_null(report.times.ratio)}});
  return kit::line(json);
}

}  // namespace nuice::cg
