// SPDX-License-Identifier: BSD-3-Clause
// A halo of messages so short that MPI_Isend completes them at once. messages to each side, bytes, steps
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int num = atoi(argv[1]), bytes = atoi(argv[2]), steps = atoi(argv[3]);
  unsigned char *s = malloc(2 * num * bytes), *g = calloc(2 * num, bytes);
  MPI_Request* q = malloc(4 * num * sizeof *q);
  for (int i = 0; i < 2 * num; ++i) fill(s + i * bytes, rank_, i, bytes);
  for (int step = 0; step < steps; ++step) {
    int k = 0;
    for (int i = 0; i < num; ++i) {
      MPI_Irecv(g + 2 * i * bytes, bytes, MPI_BYTE, left(), i, MPI_COMM_WORLD, &q[k++]);
      MPI_Irecv(g + (2 * i + 1) * bytes, bytes, MPI_BYTE, right(), num + i, MPI_COMM_WORLD, &q[k++]);
    }
    for (int i = 0; i < num; ++i) {
      MPI_Isend(s + 2 * i * bytes, bytes, MPI_BYTE, right(), i, MPI_COMM_WORLD, &q[k++]);
      MPI_Isend(s + (2 * i + 1) * bytes, bytes, MPI_BYTE, left(), num + i, MPI_COMM_WORLD, &q[k++]);
    }
    MPI_Waitall(k, q, MPI_STATUSES_IGNORE);
  }
  say("halo", g, 2 * num * bytes, wrong_in(g, left(), 0, bytes));
  MPI_Finalize();
}
