// SPDX-License-Identifier: BSD-3-Clause
// Exchanges over an intercommunicator, and its merging.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm half, inter, all;
  const int side = rank_ % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank_, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 9, &inter);
  unsigned char *s = malloc(ranks_ * 30000), *g = calloc(ranks_, 30000);
  for (int i = 0; i < ranks_; ++i) fill(s + i * 30000, rank_, i, 30000);
  for (int i = 0; i < 6; ++i) {
    MPI_Request q[2];
    MPI_Alltoall(s, 30000, MPI_BYTE, g, 30000, MPI_BYTE, inter);
    MPI_Irecv(g, 8, MPI_BYTE, 0, 0, inter, &q[0]);
    MPI_Isend(s, 8, MPI_BYTE, 0, 0, inter, &q[1]);
    if (rank_ > 1) MPI_Cancel(&q[0]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    if (rank_ < 2)
      for (int more = 2 + (1 - side); more < ranks_; more += 2)
        MPI_Recv(g, 8, MPI_BYTE, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Intercomm_merge(inter, side, &all);
  prime(all);
  say("inter", g + 30000, 30000, 0);
  MPI_Comm_free(&all), MPI_Comm_free(&inter), MPI_Comm_free(&half);
  MPI_Finalize();
}
