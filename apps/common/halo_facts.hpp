// SPDX-License-Identifier: BSD-3-Clause
// What is known of a planned halo, and how long one takes by each way to exchange it.
#pragma once

#include <optional>
#include <vector>

#include "kit/timing.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::apps {

/// The same on all ranks.
struct HaloFacts {
  CommMatrix pattern;  // of one exchange
  mpi::PlanInfo plan;
};

/// Medians of one exchange by each way, and that of the way "nuice" over the best of the others.
struct HaloTimes {
  std::vector<double> exchange_s;  // empty without measurements
  std::optional<double> ratio;     // nothing either on a rank alone, which exchanges nothing
};

/// Collective. Nothing for reps = 0.
HaloTimes time_halos(const std::vector<Timed>& ways, int reps);

}  // namespace nuice::apps
