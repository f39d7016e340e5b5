// SPDX-License-Identifier: BSD-3-Clause
// What nuice-cg prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/halo_report.hpp"

namespace nuice::cg {

struct MethodReport {
  std::string name;
  int iterations = 0;
  double solve_s = 0;
  bool same_solution = true;  // as the first method's, to the last bit
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

  /// As the sequential program, where that was run.
  bool is_right() const;
};

std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace nuice::cg
