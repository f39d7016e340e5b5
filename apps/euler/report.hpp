// SPDX-License-Identifier: BSD-3-Clause
// What nuice-euler prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/halo_report.hpp"

namespace nuice::euler {

struct MethodReport {
  std::string name;
  double seconds = 0;       // of all steps
  bool same_states = true;  // as the first method's, to the last bit
};

/// Something that was found, and the bound that it must keep, if there is one.
struct Finding {
  std::string key;
  std::string text;
  double value;
  std::optional<double> at_most = {};
  std::optional<double> at_least = {};

  bool is_right() const;
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

  bool is_right() const;
};

std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace nuice::euler
