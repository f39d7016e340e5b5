// SPDX-License-Identifier: BSD-3-Clause
// A ring of its own for some steps each, which is freed while its last exchange is active. most steps
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int k = 100000, most = atoi(argv[1]);
  unsigned char *s = malloc(2 * k), *g = malloc(2 * k);
  fill(s, rank_, 0, k), fill(s + k, rank_, 1, k);
  long wrong = 0;
  for (int steps = 1; steps <= most; ++steps) {
    MPI_Comm ring = ring_of(MPI_COMM_WORLD);
    for (int step = 0; step < steps; ++step) {
      MPI_Request q;
      int sum;
      memset(g, 0, 2 * k);
      MPI_Ineighbor_alltoall(s, k, MPI_BYTE, g, k, MPI_BYTE, ring, &q);
      if (step == steps - 1) MPI_Comm_free(&ring);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
      wrong += wrong_in(g, left(), 1, k) + wrong_in(g + k, right(), 0, k);
      MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  say("free in turn", g, 2 * k, wrong);
  MPI_Finalize();
}
