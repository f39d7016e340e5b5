// SPDX-License-Identifier: BSD-3-Clause
// Times of several ways to do the same, measured in turns so that noise hits all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kit/statistics.hpp"

namespace nuice::kit {

/// Calls turn(round, way) for every way in every round; every round begins with another way.
template <typename Turn>
void in_turns(int rounds, std::size_t num_ways, Turn&& turn) {
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < num_ways; ++i) turn(round, (i + static_cast<std::size_t>(round)) % num_ways);
}

/// Collective. Seconds of one of `batch` runs, the maximum over the ranks, which begin together.
double time_batch(const std::function<void()>& run, int batch = 1);

struct Timed {
  std::string name;
  std::function<void()> run;  ///< Collective.
};

/// Collective. Medians over the repetitions of one run, by way. Each repetition of each way is a batch of runs that takes
/// about a millisecond. Requires reps > 0.
std::vector<double> time_in_turns(const std::vector<Timed>& ways, int reps);

/// The shortest time of those whose name is not `name`, divided into that of `name`.
double ratio_to_best_other(const std::vector<Timed>& ways, const std::vector<double>& times_s,
                           const std::string& name);

}  // namespace nuice::kit
