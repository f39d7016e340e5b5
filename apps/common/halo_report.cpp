// SPDX-License-Identifier: BSD-3-Clause
#include "common/halo_report.hpp"

#include <fmt/format.h>

#include "nuice/core/bounds.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::apps {

HaloTimes time_halos(const std::vector<Timed>& ways, int reps) {
  HaloTimes halos;
  if (reps == 0) return halos;
  const std::vector<Times> times = time_in_turns(ways, reps);
  for (const Times& one : times) halos.exchange_s.push_back(one.median_s);
  if (mpi::world_size() > 1) halos.ratio = ratio_to_best_other(ways, times, "nuice");
  return halos;
}

std::string halo_text(const HaloFacts& halo) {
  const Bounds bounds = lower_bounds(halo.pattern);
  return fmt::format("halo: {} messages, {} bytes, {} phases by {} ({}), at least {} are needed\n",
                     halo.plan.num_messages, bounds.total_bytes, halo.plan.num_phases, halo.plan.scheduler,
                     halo.plan.executor, bounds.max_degree);
}

std::string exchange_text(std::optional<double> seconds) {
  return seconds ? fmt::format("{:.2f}", 1e6 * *seconds) : "-";
}

std::string ratio_text(std::optional<double> ratio) {
  return ratio ? fmt::format("one halo with nuice takes {:.3f} x the best of the others\n", *ratio) : "";
}

void append_halo(Json& to, const HaloFacts& halo) {
  const Bounds bounds = lower_bounds(halo.pattern);
  to.update({{"scheduler", halo.plan.scheduler},
             {"executor", halo.plan.executor},
             {"messages", halo.plan.num_messages},
             {"phases", halo.plan.num_phases},
             {"max_degree", bounds.max_degree},
             {"bytes", bounds.total_bytes}});
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nuice::apps
