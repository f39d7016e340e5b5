// SPDX-License-Identifier: BSD-3-Clause
// Measures planning time on this machine, relative to the adviser's estimate.
#pragma once

#include <array>
#include <chrono>
#include <string_view>

#include "nuice/core/error.hpp"
#include "nuice/core/patterns.hpp"
#include "nuice/plan/advise.hpp"
#include "nuice_calibrate/samples.hpp"

namespace nuice::calibrate {

/// Sets planning_slowdown: the time to make some usual schedules, divided by planning_cost_s().
inline Finding measure_planning(Machine& machine, int reps) {
  constexpr std::array<std::string_view, 4> usual{"rs_n", "coloring", "lpt", "coloring_by_size"};
  const CommMatrix matrix = random_regular(64, 16, {1024, 32}, 1);
  double counted_s = 0;
  for (const std::string_view name : usual) counted_s += planning_cost_s(matrix, name);
  const auto once = [&](std::size_t) {
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string_view name : usual)
      if (make_schedule(matrix, name).num_phases() == 0) throw Error(ErrorCode::state, "no schedule");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / counted_s;
  };
  const Finding found{"planning", "slowdown", "", undisturbed(reps, once), "make, over counted"};
  machine.planning_slowdown = rounded(found.estimate.value, "");
  return found;
}

}  // namespace nuice::calibrate
