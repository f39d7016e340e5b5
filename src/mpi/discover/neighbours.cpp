// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/discover/neighbours.hpp"

#include <numeric>

#include "mpi/call.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

Neighbours of_grid(MPI_Comm comm) {
  int num_dimensions = 0;
  must(MPI_Cartdim_get(comm, &num_dimensions), "MPI_Cartdim_get");
  Neighbours found;
  found.are_opposite = true;
  for (int dimension = 0; dimension < num_dimensions; ++dimension) {
    Rank below = MPI_PROC_NULL;
    Rank above = MPI_PROC_NULL;
    must(MPI_Cart_shift(comm, dimension, 1, &below, &above), "MPI_Cart_shift");
    found.sources.insert(found.sources.end(), {below, above});
  }
  found.destinations = found.sources;
  return found;
}

Neighbours of_graph(MPI_Comm comm) {
  Rank rank = 0;
  int count = 0;
  must(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  must(MPI_Graph_neighbors_count(comm, rank, &count), "MPI_Graph_neighbors_count");
  Neighbours found;
  found.sources.resize(static_cast<std::size_t>(count));
  must(MPI_Graph_neighbors(comm, rank, count, found.sources.data()), "MPI_Graph_neighbors");
  found.destinations = found.sources;
  return found;
}

Neighbours of_directed_graph(MPI_Comm comm) {
  int num_sources = 0;
  int num_destinations = 0;
  int is_weighted = 0;
  must(MPI_Dist_graph_neighbors_count(comm, &num_sources, &num_destinations, &is_weighted),
       "MPI_Dist_graph_neighbors_count");
  Neighbours found;
  found.sources.resize(static_cast<std::size_t>(num_sources));
  found.destinations.resize(static_cast<std::size_t>(num_destinations));
  std::vector<int> in(found.sources.size());  // MPI_UNWEIGHTED is allowed only for graphs without weights
  std::vector<int> out(found.destinations.size());
  must(MPI_Dist_graph_neighbors(comm, num_sources, found.sources.data(), in.data(), num_destinations,
                                found.destinations.data(), out.data()),
       "MPI_Dist_graph_neighbors");
  return found;
}

}  // namespace

Neighbours Neighbours::of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  must(MPI_Topo_test(comm, &topology), "MPI_Topo_test");
  if (topology == MPI_CART) return of_grid(comm);
  if (topology == MPI_GRAPH) return of_graph(comm);
  if (topology == MPI_DIST_GRAPH) return of_directed_graph(comm);
  throw Error(
      ErrorCode::invalid_argument,
      "the communicator has no topology: make one by MPI_Dist_graph_create_adjacent or MPI_Cart_create");
}

Neighbours Neighbours::all_ranks(MPI_Comm comm) {
  int num_ranks = 0;
  must(MPI_Comm_size(comm, &num_ranks), "MPI_Comm_size");
  Neighbours all;
  all.sources.resize(static_cast<std::size_t>(num_ranks));
  std::iota(all.sources.begin(), all.sources.end(), 0);
  all.destinations = all.sources;
  return all;
}

}  // namespace nuice::mpi
