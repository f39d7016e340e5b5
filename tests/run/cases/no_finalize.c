// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that are not waited for when the program ends by MPI_Abort on
// rank 0. finalize: by MPI_Finalize of all
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  unsigned char s[64], g[64];
  MPI_Request q;
  MPI_Comm ring = ring_of(MPI_COMM_WORLD);
  static unsigned char out[2][200000], in[2][200000];
  fill(s, rank_, 0, 64);
  MPI_Isend(s, 64, MPI_BYTE, right(), 0, MPI_COMM_WORLD, &q);
  MPI_Recv(g, 64, MPI_BYTE, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say("received", g, 64, wrong_in(g, left(), 0, 64));
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(argv[1], "finalize")) return MPI_Finalize();
  if (rank_ == 0) {
    MPI_Ineighbor_alltoall(out, 200000, MPI_BYTE, in, 200000, MPI_BYTE, ring, &q);
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  sleep(60);
}
