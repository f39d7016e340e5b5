// SPDX-License-Identifier: BSD-3-Clause
// All send short messages to rank 0, which alone receives: the others'
// requests are complete from their beginning.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  unsigned char s[2][8], g[64][2][8];
  memset(g, 0, sizeof g);
  for (int step = 0; step < 12; ++step) {
    MPI_Request q[128];
    int k = 0;
    if (rank_ == 0)
      for (int from = 1; from < ranks_; ++from)
        for (int i = 0; i < 2; ++i) MPI_Irecv(g[from][i], 8, MPI_BYTE, from, i, MPI_COMM_WORLD, &q[k++]);
    else
      for (int i = 0; i < 2; ++i)
        fill(s[i], rank_, i, 8), MPI_Isend(s[i], 8, MPI_BYTE, 0, i, MPI_COMM_WORLD, &q[k++]);
    for (int i = 0; i < k; ++i) MPI_Wait(&q[i], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  say("star", g, sizeof g, 0);
  MPI_Finalize();
}
