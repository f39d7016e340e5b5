// SPDX-License-Identifier: BSD-3-Clause
#include "run/neighbours.hpp"

namespace nuice::run {
namespace {

Neighbours of_distributed_graph(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  Neighbours found{std::vector<int>(static_cast<std::size_t>(in)),
                   std::vector<int>(static_cast<std::size_t>(out))};
  std::vector<int> in_weights(found.sources.size());
  std::vector<int> out_weights(found.destinations.size());
  PMPI_Dist_graph_neighbors(comm, in, found.sources.data(), in_weights.data(), out, found.destinations.data(),
                            out_weights.data());
  return found;
}

Neighbours of_graph(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> both(static_cast<std::size_t>(count));
  PMPI_Graph_neighbors(comm, rank, count, both.data());
  return {both, both};
}

Neighbours of_grid(MPI_Comm comm) {
  std::vector<int> both;
  int dims = 0;
  PMPI_Cartdim_get(comm, &dims);
  std::vector<int> sizes(static_cast<std::size_t>(dims));
  std::vector<int> periods(sizes.size());
  std::vector<int> place(sizes.size());
  PMPI_Cart_get(comm, dims, sizes.data(), periods.data(), place.data());
  bool is_ambiguous = false;
  for (int d = 0; d < dims; ++d) {
    const auto at = static_cast<std::size_t>(d);
    is_ambiguous = is_ambiguous || (periods[at] != 0 && sizes[at] <= 2);
    int before = 0;
    int after = 0;
    PMPI_Cart_shift(comm, d, 1, &before, &after);
    both.insert(both.end(), {before, after});
  }
  return {both, both, true, is_ambiguous};
}

}  // namespace

Neighbours neighbours_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_DIST_GRAPH) return of_distributed_graph(comm);
  if (kind == MPI_GRAPH) return of_graph(comm);
  return kind == MPI_CART ? of_grid(comm) : Neighbours();
}

}  // namespace nuice::run
