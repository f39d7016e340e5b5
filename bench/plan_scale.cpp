// SPDX-License-Identifier: BSD-3-Clause
// Planning with thousands of ranks, each with a few partners: memory per rank, and what it takes. For SimGrid's SMPI, in which all
// ranks are one process (bench/plan_scale.py builds and runs it); any MPI will do for fewer.
//
//   smpirun -np 4096 ... plan_scale root|everywhere|discover PARTNERS
//
// With plan_scale_memory.cpp preloaded every allocation is charged to the rank that makes it, so a rank's peak is its own
// although all are one process.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "nuice/error.hpp"
#include "nuice/mpi.hpp"
#include "nuice/mpi_discover.hpp"

/// From plan_scale_memory.cpp, which is preloaded; without it nothing is counted.
extern "C" long long* nuice_account() __attribute__((weak));  // this rank's bytes: now, and the most so far

namespace {

/// Partners at distances 1, 62, 123 ... modulo n - 1, so as many for every rank and far from each other.
std::vector<nuice::Partner> row(int rank, int num_ranks, int partners) {
  std::vector<nuice::Partner> destinations;
  for (int k = 0; k < std::min(partners, num_ranks - 1); ++k) {
    const int distance =
        1 + (61 * k) % (num_ranks - 1);  // 61 is prime and no factor of the n - 1 that are used
    destinations.push_back({(rank + distance) % num_ranks, 1000 + (rank * 31 + k * 7) % 5000});
  }
  return destinations;
}

struct Outcome {
  std::size_t entries;
  unsigned phases;
};

Outcome act(const std::string& what, const std::vector<nuice::Partner>& destinations) {
  if (what == "discover")
    return {nuice::mpi::discover(MPI_COMM_WORLD, destinations, nuice::mpi::Discovery::consensus).size(), 0};
  const auto planning = what == "root" ? nuice::mpi::Planning::root : nuice::mpi::Planning::everywhere;
  const nuice::mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "coloring", .planning = planning});
  return {plan.table().entries.size(), plan.info().num_phases};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const std::string what = argc > 1 ? argv[1] : "root";
  const auto destinations = row(rank, num_ranks, argc > 2 ? std::atoi(argv[2]) : 64);
  long long none[2] = {0, 0};
  long long* const mine = nuice_account != nullptr ? nuice_account() : none;
  const long long before = mine[0];
  mine[1] = before;
  const double begin_s = MPI_Wtime();
  try {
    const Outcome outcome = act(what, destinations);
    double peak = static_cast<double>(mine[1] - before);
    const double peak_of_0 = peak;
    if (rank == 0) peak = 0;
    MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
      std::printf(
          "{\"what\": \"%s\", \"ranks\": %d, \"partners\": %zu, \"phases\": %u, \"simulated_s\": %.4f, "
          "\"bytes_rank_0\": %.0f, \"bytes_others_max\": %.0f}\n",
          what.c_str(), num_ranks, destinations.size(), outcome.phases, MPI_Wtime() - begin_s, peak_of_0,
          peak);
  } catch (const nuice::Error& error) {
    std::fprintf(stderr, "plan_scale: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
