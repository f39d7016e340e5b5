// SPDX-License-Identifier: BSD-3-Clause
// A 2-D heat equation with planned exchanges; heat_mpi.cpp does the same with MPI alone.
#include <cstdio>
#include <nuice/mpi.hpp>
#include <nuice/mpi/agree.hpp>

#include "grid.hpp"

namespace {

double run(Grid& grid) {
  std::vector<nuice::Partner> destinations;
  std::vector<nuice::SendBuffer> send;
  std::vector<nuice::ReceiveBuffer> receive;
  for (std::size_t e = 0; e < grid.edges.size(); ++e) {
    const nuice::Bytes bytes = grid.edges[e].length * static_cast<nuice::Bytes>(sizeof(double));
    destinations.push_back({grid.edges[e].rank, bytes});
    send.push_back({grid.send[e].data(), bytes});
    receive.push_back({grid.receive[e].data(), bytes});
  }
  nuice::mpi::Plan plan(MPI_COMM_WORLD, destinations);
  nuice::mpi::Exchange halo = plan.bind(send, receive);

  for (int step = 0; step < steps; ++step) {
    grid.pack();
    halo.start();
    grid.update(false);
    halo.wait();
    grid.unpack();
    grid.update(true);
    grid.swap();
  }
  return grid.sum();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::array<int, 2> dims = {0, 0};
  const int rank = nuice::mpi::world_rank();
  MPI_Dims_create(nuice::mpi::world_size(), 2, dims.data());
  Grid grid(rank, dims);
  double all = 0;
  try {
    const double total = run(grid);
    MPI_Reduce(&total, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  } catch (const nuice::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) std::printf("sum after %d steps: %.6f\n", steps, all);
  MPI_Finalize();
}
