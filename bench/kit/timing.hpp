// SPDX-License-Identifier: BSD-3-Clause
// Times several methods for the same work, interleaved so that noise affects all alike.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kit/statistics.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::kit {

/// Calls turn(round, way) for every method in every round; each round begins with another method.
template <typename Turn>
void in_turns(int rounds, std::size_t num_ways, Turn&& turn) {
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < num_ways; ++i) turn(round, (i + static_cast<std::size_t>(round)) % num_ways);
}

struct Timed {
  std::string name;
  std::function<void()> run;  ///< Collective.
};

inline constexpr double never = std::numeric_limits<double>::infinity();

/// Collective. Calls run() `batch` times, beginning on all ranks together. Returns the seconds of one call,
/// the maximum over the ranks.
inline double time_batch(const std::function<void()>& run, int batch = 1) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  for (int i = 0; i < batch; ++i) run();
  return mpi::max_over_ranks(MPI_Wtime() - begin_s) / batch;
}

/// Returns the number of runs that together take about a millisecond with the fastest method. It is the same
/// on all ranks.
inline int batch_size(const std::vector<Timed>& ways) {
  constexpr double wanted_s = 1e-3;
  constexpr int trial = 3;
  double fastest_s = never;
  for (const Timed& way : ways) {
    (void)time_batch(way.run, trial);  // the first runs also set up MPI's connections
    fastest_s = std::min(fastest_s, time_batch(way.run, trial));
  }
  return static_cast<int>(std::clamp(std::ceil(wanted_s / std::max(fastest_s, 1e-9)), 1.0, 1000.0));
}

/// Collective. Returns the median time of one run for each method. Each repetition of each method is a batch
/// of runs that takes about a millisecond. Requires reps > 0.
inline std::vector<double> time_in_turns(const std::vector<Timed>& ways, int reps) {
  const int batch = batch_size(ways);
  std::vector<std::vector<double>> samples_s(ways.size());
  in_turns(reps, ways.size(),
           [&](int, std::size_t way) { samples_s[way].push_back(time_batch(ways[way].run, batch)); });
  std::vector<double> medians_s;
  for (const auto& of_way : samples_s) medians_s.push_back(median(of_way));
  return medians_s;
}

/// Returns the time of `name` divided by the shortest time of the others.
inline double ratio_to_best_other(const std::vector<Timed>& ways, const std::vector<double>& times_s,
                                  const std::string& name) {
  double mine_s = 0;
  double best_s = never;
  for (std::size_t i = 0; i < ways.size(); ++i)
    if (ways[i].name == name)
      mine_s = times_s[i];
    else
      best_s = std::min(best_s, times_s[i]);
  return mine_s / best_s;
}

}  // namespace nuice::kit
