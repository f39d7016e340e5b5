// SPDX-License-Identifier: BSD-3-Clause
// Times a halo's gather of doubles in each wire format, interleaved. Prints one JSON object per format.
//
//   halo_wire PARTNERS BYTES REPETITIONS [SCHEDULER EXECUTOR]     BYTES: of the doubles for a partner
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kit/timing.hpp"
#include "nuice/mpi/halo.hpp"

namespace {

using nuice::mpi::GlobalIndex;
using nuice::mpi::Wire;

struct Way {
  const char* name;
  Wire wire;
  std::vector<double> seconds;
};

double largest_error(const std::vector<double>& got, const std::vector<double>& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - exact[i]) / std::abs(exact[i]));
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

double value_of(GlobalIndex index) { return 1 + std::sin(static_cast<double>(index)) / 2; }

void measure(int partners, GlobalIndex entries, int reps, const nuice::mpi::PlanOptions& options) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<GlobalIndex> begins;
  for (int r = 0; r <= ranks; ++r) begins.push_back(entries * r);
  std::vector<GlobalIndex> needed;  // all entries of the next ranks
  for (int step = 1; step <= std::min(partners, ranks - 1); ++step)
    for (GlobalIndex i = 0; i < entries; ++i) needed.push_back(entries * ((rank + step) % ranks) + i);
  nuice::mpi::Halo halo(MPI_COMM_WORLD, nuice::mpi::Ownership::ranges(begins), needed, options);
  std::vector<double> owned;
  for (GlobalIndex i = 0; i < entries; ++i) owned.push_back(value_of(entries * rank + i));
  std::vector<double> exact;
  for (const GlobalIndex ghost : halo.ghosts()) exact.push_back(value_of(ghost));
  std::vector<Way> ways = {
      {"double", Wire::as_is, {}}, {"float32", Wire::float32, {}}, {"bfloat16", Wire::bfloat16, {}}};
  std::vector<std::vector<double>> ghosts(ways.size(), std::vector<double>(exact.size()));
  std::vector<nuice::mpi::HaloExchange> exchanges;
  for (std::size_t w = 0; w < ways.size(); ++w)
    exchanges.push_back(halo.bind_gather(owned, ghosts[w], 1, ways[w].wire));
  for (int rep = -3; rep < reps; ++rep)
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const double seconds = nuice::kit::time_batch([&] { exchanges[w].start(), exchanges[w].wait(); });
      if (rep >= 0) ways[w].seconds.push_back(seconds);
    }
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const double error = largest_error(ghosts[w], exact);
    std::ranges::sort(ways[w].seconds);
    if (rank == 0)
      std::printf(R"({"wire": "%s", "ranks": %d, "partners": %d, "bytes": %lld, "exchange_s": %.9g, )"
                  R"("slowest_s": %.9g, "largest_error": %.3g, "roundoff": %.3g})"
                  "\n",
                  ways[w].name, ranks, partners, 8 * static_cast<long long>(entries),
                  ways[w].seconds[ways[w].seconds.size() / 2], ways[w].seconds.back(), error,
                  exchanges[w].wire_roundoff());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  if (argc == 4 || argc == 6) {
    nuice::mpi::PlanOptions options;
    if (argc == 6) {
      options.scheduler = argv[4];
      options.executor = argv[5];
    }
    measure(std::atoi(argv[1]), std::atoll(argv[2]) / 8, std::atoi(argv[3]), options);
    status = 0;
  } else {
    std::fputs("usage: halo_wire PARTNERS BYTES REPETITIONS [SCHEDULER EXECUTOR]\n", stderr);
  }
  MPI_Finalize();
  return status;
}
