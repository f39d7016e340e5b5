// SPDX-License-Identifier: BSD-3-Clause
// How long a halo takes by each way to exchange it, and what the programs print of halos.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/halos.hpp"
#include "kit/json.hpp"
#include "kit/timing.hpp"

namespace nuice::apps {

/// Medians of one exchange by each way, and that of the way "nuice" over the best of the others.
struct HaloTimes {
  std::vector<std::optional<double>> exchange_s;  // nothing without measurements
  std::optional<double> ratio;                    // nothing either on a rank alone, which exchanges nothing
};

/// Collective. Measures nothing for reps = 0.
HaloTimes time_halos(const std::vector<kit::Timed>& ways, int reps);

/// One line: messages, bytes, phases.
std::string halo_text(const HaloFacts& halo);
/// Microseconds, or a dash.
std::string exchange_text(std::optional<double> seconds);
/// One line, or none.
std::string ratio_text(std::optional<double> ratio);

/// scheduler, executor, messages, phases, max_degree, bytes: to be appended to a program's object.
void append_halo(kit::Json& to, const HaloFacts& halo);

}  // namespace nuice::apps
