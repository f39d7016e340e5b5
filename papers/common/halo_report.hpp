// SPDX-License-Identifier: BSD-3-Clause
// Times halo exchanges by each method, and formats the facts of halos that programs print.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "common/halos.hpp"
#include "kit/json.hpp"
#include "kit/timing.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::apps {

/// The median time of one exchange by each method, and the time of method "nuice" divided by that of the
/// fastest other method.
struct HaloTimes {
  std::vector<std::optional<double>> exchange_s;  // nothing without measurements
  std::optional<double> ratio;                    // nothing on a single rank, which exchanges nothing
};

/// Collective. Times all methods; nothing if reps is 0.
inline HaloTimes time_halos(const std::vector<kit::Timed>& ways, int reps) {
  if (reps == 0) return {std::vector<std::optional<double>>(ways.size()), {}};
  const std::vector<double> times_s = kit::time_in_turns(ways, reps);
  HaloTimes halos{{times_s.begin(), times_s.end()}, {}};
  if (mpi::world_size() > 1) halos.ratio = kit::ratio_to_best_other(ways, times_s, "nuice");
  return halos;
}

/// Returns one line: messages, bytes, phases.
inline std::string halo_text(const HaloFacts& halo) {
  const Bounds bounds = lower_bounds(halo.pattern);
  return fmt::format("halo: {} messages, {} bytes, {} phases by {} ({}), at least {} are needed\n",
                     halo.plan.num_messages, bounds.total_bytes, halo.plan.num_phases, halo.plan.scheduler,
                     halo.plan.executor, bounds.max_degree);
}

/// Returns one line, or an empty string without a ratio.
inline std::string ratio_text(std::optional<double> ratio) {
  return ratio ? fmt::format("one halo with nuice takes {:.3f} x the best of the others\n", *ratio) : "";
}

/// Adds scheduler, executor, messages, phases, max_degree and bytes to a program's object.
inline void append_halo(kit::Json& to, const HaloFacts& halo) {
  const Bounds bounds = lower_bounds(halo.pattern);
  to.update({{"scheduler", halo.plan.scheduler},
             {"executor", halo.plan.executor},
             {"messages", halo.plan.num_messages},
             {"phases", halo.plan.num_phases},
             {"max_degree", bounds.max_degree},
             {"bytes", bounds.total_bytes}});
}

}  // namespace nuice::apps
