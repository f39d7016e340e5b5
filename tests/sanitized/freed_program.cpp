// SPDX-License-Identifier: BSD-3-Clause
// Under ASan: a receive buffer that is freed while its exchange is active must be named.
//
//   mpi_freed_program EXECUTOR      two ranks
#include <mpi.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "nuice/mpi.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) return 2;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    constexpr nuice::Bytes bytes = 1000;  // few enough to be copied by MPI in the receiver's process
    const nuice::Partner other{1 - rank, bytes};
    nuice::mpi::Plan plan(
        MPI_COMM_WORLD, std::span(&other, 1),
        nuice::mpi::PlanOptions::parse(std::string("executor=") + argv[1], {.scheduler = "lp"}));
    const std::vector<std::byte> out(bytes);
    auto in = std::make_unique<std::vector<std::byte>>(bytes);
    const nuice::SendBuffer send{out.data(), bytes};
    const nuice::ReceiveBuffer receive{in->data(), bytes};
    nuice::mpi::Exchange exchange = plan.bind(std::span(&send, 1), std::span(&receive, 1));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) usleep(200'000);  // rank 1 waits for it
    exchange.start();
    if (rank == 1) in.reset();
    exchange.wait();
  }
  MPI_Finalize();
}
