// SPDX-License-Identifier: BSD-3-Clause
#include "cg/report.hpp"

#include <fmt/format.h>

#include "common/halo_report.hpp"

namespace nuice::cg {

using apps::Json;
using apps::or_null;

std::string to_text(const Report& report) {
  const std::string rhs = report.num_rhs == 1 ? "" : fmt::format("{} right-hand sides, ", report.num_rhs);
  std::string text = fmt::format("{}: {} rows, {} entries, {}{} ranks\n{}\n", report.problem, report.num_rows,
                                 report.num_entries, rhs, report.num_ranks, apps::halo_text(report.halo));
  text += fmt::format("{:10} {:>10} {:>12} {:>14}\n", "exchange", "iterations", "solve ms", "one halo us");
  for (const MethodReport& method : report.methods)
    text += fmt::format("{:10} {:>10} {:>12.3f} {:>14}\n", method.name, method.iterations,
                        1e3 * method.solve_s, apps::exchange_text(method.exchange_s));
  text += fmt::format("\n{}: |r| / |b| = {:.2e}", report.converged ? "converged" : "NOT CONVERGED",
                      report.relative_residual);
  if (report.sequential_iterations)
    text += fmt::format("; sequentially {} iterations, greatest relative difference {:.1e}",
                        *report.sequential_iterations, *report.sequential_difference);
  return text + "\n" + apps::ratio_text(report.exchange_ratio);
}

std::string to_json(const Report& report) {
  Json methods = Json::array();
  for (const MethodReport& method : report.methods)
    methods.push_back({{"name", method.name},
                       {"iterations", method.iterations},
                       {"solve_seconds", method.solve_s},
                       {"exchange_seconds_median", or_null(method.exchange_s)},
                       {"same_solution", method.same_solution}});
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
               {"exchange_ratio_to_best_mpi", or_null(report.exchange_ratio)}});
  return apps::to_line(json);
}

}  // namespace nuice::cg
