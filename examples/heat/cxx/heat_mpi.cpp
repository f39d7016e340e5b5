// SPDX-License-Identifier: BSD-3-Clause
// The twin of heat.cpp with MPI alone.
#include <mpi.h>

#include <cstdio>

#include "grid.hpp"

namespace {

double run(Grid& grid) {
  std::vector<MPI_Request> requests;
  for (std::size_t e = 0; e < grid.edges.size(); ++e) {
    const auto [rank, first, stride, length, outwards] = grid.edges[e];
    MPI_Recv_init(grid.receive[e].data(), length, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
    MPI_Send_init(grid.send[e].data(), length, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &requests.emplace_back());
  }
  const int num_requests = static_cast<int>(requests.size());

  for (int step = 0; step < steps; ++step) {
    grid.pack();
    MPI_Startall(num_requests, requests.data());
    grid.update(false);
    MPI_Waitall(num_requests, requests.data(), MPI_STATUSES_IGNORE);
    grid.unpack();
    grid.update(true);
    grid.swap();
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  return grid.sum();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::array<int, 2> dims = {0, 0};
  int rank = 0, num_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  MPI_Dims_create(num_ranks, 2, dims.data());
  Grid grid(rank, dims);
  double all = 0;
  const double total = run(grid);
  MPI_Reduce(&total, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum after %d steps: %.6f\n", steps, all);
  MPI_Finalize();
}
