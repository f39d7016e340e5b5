// SPDX-License-Identifier: BSD-3-Clause
// Short halos on two communicators at once: their sends may have one request
// between them. Two steps of each are active.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  unsigned char s[16], g[2][16] = {{0}};
  fill(s, rank_, 0, 16);
  for (int step = 0; step < 20; ++step) {
    MPI_Request q[4];
    for (int c = 0; c < 2; ++c) MPI_Irecv(g[c], 16, MPI_BYTE, left(), 0, comms[c], &q[c]);
    for (int c = 0; c < 2; ++c) MPI_Isend(s, 16, MPI_BYTE, right(), 0, comms[c], &q[2 + c]);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    MPI_Wait(&q[3], MPI_STATUS_IGNORE);
  }
  say("two", g, 32, wrong_in(g[0], left(), 0, 16) + wrong_in(g[1], left(), 0, 16));
  MPI_Comm_free(&comms[1]);
  MPI_Finalize();
}
