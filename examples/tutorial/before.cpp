// SPDX-License-Identifier: BSD-3-Clause
// The program before: a halo exchange by hand.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "network.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::int64_t first = rank * points_per_rank;
  const std::int64_t num_points = size * points_per_rank;

  // [ghosts]
  // Which points of other ranks do I read?
  std::vector<std::int64_t> ghosts;
  for (std::int64_t i = first; i < first + points_per_rank; ++i)
    for (const std::int64_t g : neighbours(i, num_points))
      if (g / points_per_rank != rank) ghosts.push_back(g);
  std::ranges::sort(ghosts);
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  // [/ghosts]

  // [requests]
  // Tell the owners how many ghosts I need, then which; learn which ranks read my points.
  std::vector<int> asked(size, 0), asks(size, 0), asked_begin(size, 0), asks_begin(size, 0);
  for (const std::int64_t g : ghosts) ++asks[g / points_per_rank];
  MPI_Alltoall(asks.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(asks.begin(), asks.end(), asks_begin.begin(), 0);
  std::exclusive_scan(asked.begin(), asked.end(), asked_begin.begin(), 0);
  std::vector<std::int64_t> sent(asked_begin.back() + asked.back());
  MPI_Alltoallv(ghosts.data(), asks.data(), asks_begin.data(), MPI_INT64_T, sent.data(), asked.data(),
                asked_begin.data(), MPI_INT64_T, MPI_COMM_WORLD);
  // [/requests]

  // [local]
  // Where is the value of a global point: among mine, or after them among the ghosts?
  const auto local = [&](std::int64_t g) {
    if (g / points_per_rank == rank) return g - first;
    return points_per_rank + (std::ranges::lower_bound(ghosts, g) - ghosts.begin());
  };
  // [/local]
  std::vector<std::vector<std::int64_t>> reads;
  for (std::int64_t i = first; i < first + points_per_rank; ++i) {
    reads.push_back(neighbours(i, num_points));
    for (std::int64_t& g : reads.back()) g = local(g);
  }

  std::vector<double> values(points_per_rank + ghosts.size());
  for (std::int64_t i = 0; i < points_per_rank; ++i) values[i] = first_value(first + i);
  std::vector<double> next(points_per_rank);
  std::vector<double> packed(sent.size());
  for (int step = 0; step < num_steps; ++step) {
    // [exchange]
    std::vector<MPI_Request> requests;
    for (int r = 0; r < size; ++r)
      if (asks[r] > 0)
        MPI_Irecv(values.data() + points_per_rank + asks_begin[r], asks[r], MPI_DOUBLE, r, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
    for (std::size_t i = 0; i < sent.size(); ++i) packed[i] = values[sent[i] - first];
    for (int r = 0; r < size; ++r)
      if (asked[r] > 0)
        MPI_Isend(packed.data() + asked_begin[r], asked[r], MPI_DOUBLE, r, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    // [/exchange]
    for (std::int64_t i = 0; i < points_per_rank; ++i) {
      next[i] = 0;
      for (const std::int64_t j : reads[i]) next[i] += 0.25 * values[j];
    }
    std::ranges::copy(next, values.begin());
  }

  const double mine =
      std::accumulate(next.begin(), next.end(), 0.0, [](double s, double v) { return s + v * v; });
  double all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum of squares: %.9f\n", all);
  MPI_Finalize();
}
