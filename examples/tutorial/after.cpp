// SPDX-License-Identifier: BSD-3-Clause
// The program after: the halo exchange with nuice.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <nuice/core/error.hpp>
#include <nuice/core/text_io.hpp>
#include <nuice/mpi/halo.hpp>
#include <numeric>

#include "network.hpp"

namespace {

using nuice::mpi::Halo;
using nuice::mpi::Ownership;

double run(int rank, int size) {
  const std::int64_t first = rank * points_per_rank;
  const std::int64_t num_points = size * points_per_rank;

  // [inspect]
  // All points that I read. Halo finds the ghosts and their owners, and plans the exchange.
  std::vector<std::int64_t> needed;
  for (std::int64_t i = first; i < first + points_per_rank; ++i)
    for (const std::int64_t g : neighbours(i, num_points)) needed.push_back(g);
  std::vector<std::int64_t> begins;
  for (int r = 0; r <= size; ++r) begins.push_back(r * points_per_rank);
  Halo halo(MPI_COMM_WORLD, Ownership::ranges(begins), needed);
  // [/inspect]

  // [translate]
  std::vector<std::vector<std::int64_t>> reads;
  for (std::int64_t i = first; i < first + points_per_rank; ++i) {
    reads.push_back(neighbours(i, num_points));
    for (std::int64_t& g : reads.back()) g = halo.local_index(g);
  }
  // [/translate]

  // [bind]
  std::vector<double> values(halo.num_entries());  // mine, then the ghosts
  nuice::mpi::HaloExchange gather = halo.bind_gather(values);
  // [/bind]
  for (std::int64_t i = 0; i < points_per_rank; ++i) values[i] = first_value(first + i);

  // [overlap]
  // Points that read no ghosts need not wait for any.
  std::vector<std::int64_t> interior, boundary;
  for (std::int64_t i = 0; i < points_per_rank; ++i) {
    const bool reads_ghosts =
        std::ranges::any_of(reads[i], [&](std::int64_t j) { return j >= points_per_rank; });
    (reads_ghosts ? boundary : interior).push_back(i);
  }
  // [/overlap]
  std::vector<double> next(points_per_rank);
  const auto compute = [&](const std::vector<std::int64_t>& points) {
    for (const std::int64_t i : points) {
      next[i] = 0;
      for (const std::int64_t j : reads[i]) next[i] += 0.25 * values[j];
    }
  };
  for (int step = 0; step < num_steps; ++step) {
    // [exchange]
    gather.start();
    compute(interior);
    gather.wait();
    compute(boundary);
    // [/exchange]
    std::ranges::copy(next, values.begin());
  }

  // [explain]
  const nuice::mpi::PlanInfo& plan = gather.info();
  const nuice::CommMatrix matrix = halo.matrix(sizeof(double));
  if (rank == 0) {
    std::printf("%s: %u messages in %u phases, at least %u are needed; planned in %.1f ms\n",
                plan.scheduler.c_str(), plan.num_messages, plan.num_phases, plan.bounds.max_degree,
                1e3 * (plan.gather_s + plan.schedule_s));
    nuice::save_matrix_market("network.mtx", matrix);
  }
  // [/explain]
  return std::accumulate(next.begin(), next.end(), 0.0, [](double s, double v) { return s + v * v; });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // [errors]
  int exit_code = 0;
  try {
    const double mine = run(rank, size);
    double all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("sum of squares: %.9f\n", all);
  } catch (const nuice::Error& error) {  // the same on all ranks
    if (rank == 0) std::fprintf(stderr, "after: %s\n", error.what());
    exit_code = 1;
  }
  // [/errors]
  MPI_Finalize();
  return exit_code;
}
