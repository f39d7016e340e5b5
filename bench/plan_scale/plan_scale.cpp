// SPDX-License-Identifier: BSD-3-Clause
// Measures planning with thousands of ranks that have a few partners each: memory per rank and time. It is
// made for SimGrid's SMPI, in which all ranks are one process (`bench/run.py plan_scale` builds and runs it);
// any MPI will do for fewer ranks.
//
//   smpirun -np 4096 ... plan_scale everywhere PARTNERS
//   smpirun -np 4096 ... plan_scale gather|count|consensus PARTNERS   only learns the sources, by that method
//   smpirun -np 1    ... plan_scale local PARTNERS RANKS              times the computations of one rank
//
// With plan_scale_memory.cpp preloaded, every allocation is charged to the rank that makes it, so each rank
// has its own peak although all are one process. Allocations of the program and of NUICE, which is linked
// into it, are counted apart from SMPI's.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/mpi/discover.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/nuice.hpp"

/// Defined by plan_scale_memory.cpp, which is preloaded; without it nothing is counted.
extern "C" long long* nuice_account()
    __attribute__((weak));  // this rank's bytes: now and at most; then the program's own

/// SMPI 3.32 declares this function, but the function ends the program. A blocking duplicate is used instead,
/// which suffices if no rank dies.
extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_Comm_dup(comm, made);
}

namespace {

/// Returns partners at distances 1, 62, 123 ... modulo n - 1: equally many for every rank, and far from each
/// other.
std::vector<nuice::Partner> row(int rank, int num_ranks, int partners) {
  std::vector<nuice::Partner> destinations;
  for (int k = 0; k < std::min(partners, num_ranks - 1); ++k) {
    const int distance = 1 + (61 * k) % (num_ranks - 1);  // 61 is prime and does not divide the n - 1 in use
    destinations.push_back({(rank + distance) % num_ranks, 1000 + (rank * 31 + k * 7) % 5000});
  }
  return destinations;
}

struct Outcome {
  std::size_t entries;
  unsigned phases;
};

Outcome act(const std::string& what, const std::vector<nuice::Partner>& destinations) {
  if (what != "everywhere") return {nuice::mpi::discover(MPI_COMM_WORLD, destinations, what).size(), 0};
  const nuice::mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "coloring"});
  return {plan.table().entries.size(), plan.info().num_phases};
}

/// Returns the number at this position of the command line.
int number(int argc, char* const* argv, int at, int otherwise) {
  return argc > at ? static_cast<int>(std::strtol(argv[at], nullptr, 10)) : otherwise;
}

/// Times matrix, schedule, check and slices without communication.
void time_local_part(int num_ranks, int partners) {
  std::vector<nuice::Message> entries;
  for (int rank = 0; rank < num_ranks; ++rank)
    for (const nuice::Partner& to : row(rank, num_ranks, partners))
      entries.push_back({rank, to.rank, to.bytes});
  double last_s = 0;
  const auto lap = [&last_s] {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    const double before_s = std::exchange(last_s, now.count());
    return last_s - before_s;
  };
  lap();
  const auto matrix = nuice::CommMatrix::from_messages(num_ranks, entries);
  const double matrix_s = lap();
  const nuice::Schedule schedule = nuice::make_schedule(matrix, "coloring");
  const double schedule_s = lap();
  const bool is_right = !nuice::check(matrix, schedule, nuice::find_scheduler("coloring").guarantees);
  const double check_s = lap();
  std::size_t num_entries = 0;
  for (const auto& table : nuice::slice_all(matrix, schedule)) num_entries += table.entries.size();
  const double slices_s = lap();
  std::printf(
      "{\"what\": \"local\", \"ranks\": %d, \"partners\": %d, \"right\": %s, \"entries\": %zu, \"matrix_s\": "
      "%.4f, "
      "\"schedule_s\": %.4f, \"check_s\": %.4f, \"slices_s\": %.4f}\n",
      num_ranks, partners, is_right ? "true" : "false", num_entries, matrix_s, schedule_s, check_s, slices_s);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const std::string what = argc > 1 ? argv[1] : "everywhere";
  if (what == "local") {
    time_local_part(number(argc, argv, 3, 4096), number(argc, argv, 2, 64));
    MPI_Finalize();
    return 0;
  }
  const auto destinations = row(rank, num_ranks, number(argc, argv, 2, 64));
  long long none[4] = {0, 0, 0, 0};
  long long* const mine = nuice_account != nullptr ? nuice_account() : none;
  const long long before = mine[0];
  const long long own_before = mine[2];
  mine[1] = before;
  mine[3] = own_before;
  const double begin_s = MPI_Wtime();
  try {
    const Outcome outcome = act(what, destinations);
    const double elapsed_s = MPI_Wtime() - begin_s;
    const double peak_of_0 = static_cast<double>(mine[1] - before);
    double others[3] = {rank == 0 ? 0.0 : peak_of_0,
                        rank == 0 ? 0.0 : static_cast<double>(mine[3] - own_before), elapsed_s};
    MPI_Allreduce(MPI_IN_PLACE, others, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
      std::printf(
          "{\"what\": \"%s\", \"ranks\": %d, \"partners\": %zu, \"phases\": %u, \"simulated_s\": %.4f, "
          "\"bytes_rank_0\": %.0f, \"bytes_others_max\": %.0f, \"own_bytes_others_max\": %.0f}\n",
          what.c_str(), num_ranks, destinations.size(), outcome.phases, others[2], peak_of_0, others[0],
          others[1]);
  } catch (const nuice::Error& error) {
    std::fprintf(stderr, "plan_scale: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
