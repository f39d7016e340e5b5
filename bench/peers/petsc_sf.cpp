// SPDX-License-Identifier: BSD-3-Clause
// PetscSF on the pattern of a communication matrix, for bench/peers.py: every message is a run of roots that become
// leaves at its receiver, by PetscSFBcast.
//
//   mpiexec -n N petsc_sf PATTERN REPS
//
// PATTERN has one line "src dst words" per message, sorted by src and dst; a word has 8 bytes. Prints one JSON object:
// the median seconds of an exchange.
#include <petscsf.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "common/timing.hpp"
#include "nuice/mpi/agree.hpp"

namespace {

/// What a word of a message carries: who sends which of its words.
double word(int src, PetscInt at) { return 1e7 * src + static_cast<double>(at); }

struct Graph {
  PetscInt num_roots = 0;  // words that this rank sends, by destination
  std::vector<PetscSFNode> leaves;

  explicit Graph(const char* path) {
    std::ifstream in(path);
    const int rank = nuice::mpi::world_rank();
    int src, dst, last = -1;
    PetscInt words, at = 0;
    while (in >> src >> dst >> words) {
      if (src != last) at = 0;
      last = src;
      for (PetscInt i = 0; dst == rank && i < words; ++i) leaves.push_back({src, at + i});
      at += words;
      if (src == rank) num_roots = at;
    }
  }
};

void run(char** argv) {
  Graph graph(argv[1]);
  PetscSF sf;
  PetscCallAbort(PETSC_COMM_WORLD, PetscSFCreate(PETSC_COMM_WORLD, &sf));
  PetscCallAbort(PETSC_COMM_WORLD, PetscSFSetFromOptions(sf));
  PetscCallAbort(PETSC_COMM_WORLD,
                 PetscSFSetGraph(sf, graph.num_roots, static_cast<PetscInt>(graph.leaves.size()), nullptr,
                                 PETSC_COPY_VALUES, graph.leaves.data(), PETSC_COPY_VALUES));
  PetscCallAbort(PETSC_COMM_WORLD, PetscSFSetUp(sf));
  std::vector<double> roots;
  for (PetscInt i = 0; i < graph.num_roots; ++i) roots.push_back(word(nuice::mpi::world_rank(), i));
  std::vector<double> leaves(graph.leaves.size(), -1);
  const auto exchange = [&] {
    PetscCallAbort(PETSC_COMM_WORLD,
                   PetscSFBcastBegin(sf, MPI_DOUBLE, roots.data(), leaves.data(), MPI_REPLACE));
    PetscCallAbort(PETSC_COMM_WORLD,
                   PetscSFBcastEnd(sf, MPI_DOUBLE, roots.data(), leaves.data(), MPI_REPLACE));
  };
  const int reps = std::atoi(argv[2]);
  const double seconds = nuice::apps::time_in_turns({{"sf", exchange}}, reps).front().median_s;
  bool right = true;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    right = right && leaves[i] == word(static_cast<int>(graph.leaves[i].rank), graph.leaves[i].index);
  const bool all_right = nuice::mpi::max_over_ranks(right ? 0 : 1) == 0;
  PetscCallAbort(PETSC_COMM_WORLD,
                 PetscPrintf(PETSC_COMM_WORLD, "{\"exchange_seconds_median\": %.9g, \"verified\": %s}\n",
                             seconds, all_right ? "true" : "false"));
  PetscCallAbort(PETSC_COMM_WORLD, PetscSFDestroy(&sf));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  PetscCall(PetscInitializeNoArguments());
  run(argv);
  PetscCall(PetscFinalize());
  MPI_Finalize();
  return 0;
}
