// SPDX-License-Identifier: BSD-3-Clause
// Communicators with neighbours, for tests of neighbourhood calls.
#pragma once

#include <array>

#include "mpi/mpi_support.hpp"

namespace nuice::test {

/// check(comm, number of sources, number of destinations) for grids, periodic and not, two wide, where both
/// neighbours are one rank, and one wide, where they are this one; and for a graph in which each sends to the
/// two behind it, to the next one twice.
template <typename Check>
void with_neighbours(Check&& check) {
  for (const int is_periodic : {0, 1}) {
    std::array<int, 3> sizes = {0, 0, 1};
    MPI_Dims_create(world_size(), 3, sizes.data());
    const std::array<int, 3> periods = {is_periodic, 1, is_periodic};
    MPI_Comm grid = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 3, sizes.data(), periods.data(), 0, &grid);
    check(grid, 6, 6);
    MPI_Comm_free(&grid);
  }
  const Rank n = world_size();
  const Rank me = world_rank();
  const std::array to = {(me + 1) % n, (me + 2) % n, (me + 1) % n};
  const std::array from = {(me + n - 1) % n, (me + 2 * n - 2) % n, (me + n - 1) % n};
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from.data(), MPI_UNWEIGHTED, 3, to.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  check(graph, 3, 3);
  MPI_Comm_free(&graph);
}

}  // namespace nuice::test
