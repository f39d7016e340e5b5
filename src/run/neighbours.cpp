// SPDX-License-Identifier: BSD-3-Clause
#include "run/neighbours.hpp"

#include <cstddef>

namespace nuice::run {
namespace {

std::vector<int> of_distributed_graph(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  std::vector<int> sources(static_cast<std::size_t>(in));
  std::vector<int> destinations(static_cast<std::size_t>(out));
  std::vector<int> in_weights(sources.size());
  std::vector<int> out_weights(destinations.size());
  PMPI_Dist_graph_neighbors(comm, in, sources.data(), in_weights.data(), out, destinations.data(),
                            out_weights.data());
  return destinations;
}

std::vector<int> of_graph(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> both(static_cast<std::size_t>(count));
  PMPI_Graph_neighbors(comm, rank, count, both.data());
  return both;
}

std::vector<int> of_grid(MPI_Comm comm) {
  std::vector<int> both;
  int dims = 0;
  PMPI_Cartdim_get(comm, &dims);
  for (int d = 0; d < dims; ++d) {
    int before = 0;
    int after = 0;
    PMPI_Cart_shift(comm, d, 1, &before, &after);
    both.insert(both.end(), {before, after});
  }
  return both;
}

}  // namespace

std::vector<int> neighbours_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_DIST_GRAPH) return of_distributed_graph(comm);
  if (kind == MPI_GRAPH) return of_graph(comm);
  return kind == MPI_CART ? of_grid(comm) : std::vector<int>();
}

}  // namespace nuice::run
