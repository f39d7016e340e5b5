// SPDX-License-Identifier: BSD-3-Clause
// Times a halo's gather whose values cross the network once per host, and one whose values cross it for every
// rank, interleaved.
//
//   halo_once FOLDER COMPONENTS REPETITIONS SCHEDULER EXECUTOR
//
// FOLDER/owners: the owner of every entry. FOLDER/needed-RANK: the entries that the rank needs. All are
// 64-bit integers.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "kit/timing.hpp"
#include "nuice/mpi/halo.hpp"

namespace {

using nuice::mpi::GlobalIndex;
using nuice::mpi::Halo;

std::vector<GlobalIndex> numbers_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<GlobalIndex> numbers(static_cast<std::size_t>(file.tellg()) / sizeof(GlobalIndex));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(GlobalIndex)));
  return numbers;
}

struct Way {
  const char* name;
  bool once_per_host;
  std::vector<double> ghosts = {};
  std::vector<double> seconds = {};
};

void measure(const std::string& folder, int components, int reps, nuice::mpi::PlanOptions options) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto owners = numbers_in(folder + "/owners");
  const std::vector<nuice::Rank> owner(owners.begin(), owners.end());
  const auto needed = numbers_in(folder + "/needed-" + std::to_string(rank));
  std::vector<Way> ways = {{"every rank", false}, {"once per host", true}};
  std::vector<double> owned;
  for (std::size_t g = 0; g < owner.size(); ++g)
    if (owner[g] == rank)
      owned.insert(owned.end(), static_cast<std::size_t>(components), static_cast<double>(g));
  std::vector<Halo> halos;
  std::vector<nuice::mpi::HaloExchange> exchanges;
  for (Way& way : ways) {
    options.once_per_host = way.once_per_host;
    halos.emplace_back(MPI_COMM_WORLD, nuice::mpi::Ownership::array(owner), needed, options,
                       static_cast<nuice::Bytes>(components) * 8);
    way.ghosts.resize(static_cast<std::size_t>(halos.back().num_ghosts()) *
                      static_cast<std::size_t>(components));
    exchanges.push_back(halos.back().bind_gather(owned, way.ghosts, components));
  }
  for (int rep = -3; rep < reps; ++rep)
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const double seconds = nuice::kit::time_batch([&] { exchanges[w].start(), exchanges[w].wait(); });
      if (rep >= 0) ways[w].seconds.push_back(seconds);
    }
  int is_wrong = ways[0].ghosts == ways[1].ghosts ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (std::size_t w = 0; w < ways.size() && rank == 0; ++w) {
    std::ranges::sort(ways[w].seconds);
    std::printf(R"({"way": "%s", "exchange_s": %.9g, "slowest_s": %.9g, "spared_bytes": %lld, "wrong": %d})"
                "\n",
                ways[w].name, ways[w].seconds[ways[w].seconds.size() / 2], ways[w].seconds.back(),
                static_cast<long long>(exchanges[w].info().spared_bytes), is_wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 6) {
    nuice::mpi::PlanOptions options;
    options.scheduler = argv[4];
    options.executor = argv[5];
    measure(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), options);
  } else {
    std::fputs("usage: halo_once FOLDER COMPONENTS REPETITIONS SCHEDULER EXECUTOR\n", stderr);
  }
  MPI_Finalize();
  return argc == 6 ? 0 : 2;
}
