// SPDX-License-Identifier: BSD-3-Clause
#include "cg/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "nuice/bounds.hpp"

namespace nuice::cg {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

std::string to_text(const Report& report) {
  const Bounds bounds = lower_bounds(report.halo.pattern);
  std::string text = fmt::format(
      "{}: {} rows, {} entries, {} ranks\n"
      "halo: {} messages, {} bytes, {} phases by {} ({}), at least {} are needed\n\n",
      report.problem, report.num_rows, report.num_entries, report.num_ranks, report.halo.plan.num_messages,
      bounds.total_bytes, report.halo.plan.num_phases, report.halo.plan.scheduler,
      mpi::executor_name(report.halo.plan.executor), bounds.max_degree);
  text += fmt::format("{:10} {:>10} {:>12} {:>14}\n", "exchange", "iterations", "solve ms", "one halo us");
  for (const MethodReport& method : report.methods)
    text +=
        fmt::format("{:10} {:>10} {:>12.3f} {:>14}\n", method.name, method.iterations, 1e3 * method.solve_s,
                    method.exchange_s ? fmt::format("{:.2f}", 1e6 * *method.exchange_s) : "-");
  text += fmt::format("\n{}: |r| / |b| = {:.2e}", report.converged ? "converged" : "NOT CONVERGED",
                      report.relative_residual);
  if (report.sequential_iterations)
    text += fmt::format("; sequentially {} iterations, greatest relative difference {:.1e}",
                        *report.sequential_iterations, *report.sequential_difference);
  if (report.exchange_ratio)
    text +=
        fmt::format("\none halo with nuice takes {:.3f} x the best of the others", *report.exchange_ratio);
  return text + "\n";
}

std::string to_json(const Report& report) {
  const Bounds bounds = lower_bounds(report.halo.pattern);
  Json methods = Json::array();
  for (const MethodReport& method : report.methods)
    methods.push_back({{"name", method.name},
                       {"iterations", method.iterations},
                       {"solve_seconds", method.solve_s},
                       {"exchange_seconds_median", or_null(method.exchange_s)},
                       {"same_solution", method.same_solution}});
  const Json json = {{"problem", report.problem},
                     {"ranks", report.num_ranks},
                     {"rows", report.num_rows},
                     {"entries", report.num_entries},
                     {"scheduler", report.halo.plan.scheduler},
                     {"executor", mpi::executor_name(report.halo.plan.executor)},
                     {"messages", report.halo.plan.num_messages},
                     {"phases", report.halo.plan.num_phases},
                     {"max_degree", bounds.max_degree},
                     {"bytes", bounds.total_bytes},
                     {"converged", report.converged},
                     {"relative_residual", report.relative_residual},
                     {"sequential_iterations", or_null(report.sequential_iterations)},
                     {"sequential_difference", or_null(report.sequential_difference)},
                     {"methods", methods},
                     {"exchange_ratio_to_best_mpi", or_null(report.exchange_ratio)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nuice::cg
