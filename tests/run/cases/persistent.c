// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests and others mixed, walls included; some are freed and made again with the same handle.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int to_right = rank_ + 1 < ranks_ ? rank_ + 1 : MPI_PROC_NULL,
            to_left = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
  unsigned char s[100], g[2][100] = {{0}};
  fill(s, rank_, 0, 100);
  for (int round = 0; round < 3; ++round) {
    MPI_Request q[4];
    MPI_Recv_init(g[0], 100, MPI_BYTE, to_left, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Recv_init(g[1], 100, MPI_BYTE, to_right, 0, MPI_COMM_WORLD, &q[1]);
    MPI_Send_init(s, 100, MPI_BYTE, to_right, 0, MPI_COMM_WORLD, &q[2]);
    for (int step = 0; step < 5; ++step) {
      MPI_Startall(3, q);
      MPI_Isend(s, 100, MPI_BYTE, to_left, 0, MPI_COMM_WORLD, &q[3]);
      MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&q[0]);
    MPI_Send(s, 100, MPI_BYTE, to_right, 0, MPI_COMM_WORLD);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) MPI_Request_free(&q[i]);
  }
  say("persistent", g, sizeof g, 0);
  MPI_Finalize();
}
