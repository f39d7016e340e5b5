// SPDX-License-Identifier: BSD-3-Clause
#include "kit/timing.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nuice/mpi/agree.hpp"

namespace nuice::apps {
namespace {

double time_batch(const Timed& way, int batch) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  for (int i = 0; i < batch; ++i) way.run();
  return mpi::max_over_ranks(MPI_Wtime() - begin_s) / batch;
}

/// Runs that take about a millisecond together, by the fastest way. The same on all ranks.
int batch_size(const std::vector<Timed>& ways) {
  constexpr double wanted_s = 1e-3;
  constexpr int trial = 3;
  double fastest_s = std::numeric_limits<double>::infinity();
  for (const Timed& way : ways) {
    (void)time_batch(way, trial);  // the first runs also pay for MPI's connections
    fastest_s = std::min(fastest_s, time_batch(way, trial));
  }
  return static_cast<int>(std::clamp(std::ceil(wanted_s / std::max(fastest_s, 1e-9)), 1.0, 1000.0));
}

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

}  // namespace

std::vector<Times> time_in_turns(const std::vector<Timed>& ways, int reps) {
  const int batch = batch_size(ways);
  std::vector<std::vector<double>> samples_s(ways.size());
  for (int round = 0; round < reps; ++round)
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = (turn + static_cast<std::size_t>(round)) % ways.size();
      samples_s[way].push_back(time_batch(ways[way], batch));
    }
  std::vector<Times> times;
  for (const auto& of_way : samples_s)
    times.push_back({.median_s = median(of_way), .min_s = std::ranges::min(of_way)});
  return times;
}

double ratio_to_best_other(const std::vector<Timed>& ways, const std::vector<Times>& times,
                           const std::string& name) {
  double mine_s = 0;
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].name == name) {
      mine_s = times[i].median_s;
    } else {
      best_s = std::min(best_s, times[i].median_s);
    }
  }
  return mine_s / best_s;
}

}  // namespace nuice::apps
