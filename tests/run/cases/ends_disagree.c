// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sends less to rank 1 than that expects, which no MPI minds; and what follows is right.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  struct Blocks v = blocks_of(MPI_COMM_WORLD, 100000);
  if (rank_ == 0) v.out[1] -= 1000;
  const int code =
      MPI_Alltoallv(v.send, v.out, v.out_at, MPI_BYTE, v.receive, v.in, v.in_at, MPI_BYTE, MPI_COMM_WORLD);
  printf("%d %s\n", rank_, code ? "error" : "none");
  MPI_Barrier(MPI_COMM_WORLD);
  prime(MPI_COMM_WORLD);
  MPI_Finalize();
}
