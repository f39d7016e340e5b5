// SPDX-License-Identifier: BSD-3-Clause
// What tool.c counts.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  unsigned char s[64] = "x", g[64] = "";
  for (int i = 0; i < 3; ++i) {
    MPI_Request q[2];
    MPI_Alltoall(s, 4, MPI_BYTE, g, 4, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Irecv(g, 4, MPI_BYTE, left(), 0, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(s, 4, MPI_BYTE, right(), 0, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  }
  say("under tool", g, 64, 0);
  MPI_Finalize();
}
