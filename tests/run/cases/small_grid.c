// SPDX-License-Identifier: BSD-3-Clause
// Periodic grids with dimensions of 1 and 2, on which one neighbour is on both sides: every call must deliver
// what the first did. bytes, calls, and the grid's dimensions
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int k = atoi(argv[1]), calls = atoi(argv[2]), n = argc - 3;
  int dims[4], periods[4] = {1, 1, 1, 1}, sum = 0;
  for (int d = 0; d < n; ++d) dims[d] = atoi(argv[3 + d]);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, 0, &grid);
  unsigned char *s = malloc(2 * n * k), *g = malloc(2 * n * k), *first = malloc(2 * n * k);
  for (int i = 0; i < 2 * n; ++i) fill(s + i * k, rank_, i, k);
  long wrong = 0;
  for (int i = 0; i < calls; ++i) {
    MPI_Request q;
    memset(g, 0, 2 * n * k);
    if (i % 3) {
      MPI_Ineighbor_alltoall(s, k, MPI_BYTE, g, k, MPI_BYTE, grid, &q);
      MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else {
      MPI_Neighbor_alltoall(s, k, MPI_BYTE, g, k, MPI_BYTE, grid);
    }
    if (i == 1) memcpy(first, g, 2 * n * k);  // blocking ones may have another order in MPI
    if (i > 1 && i % 3) wrong += memcmp(first, g, 2 * n * k) != 0;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  say("grid", first, 2 * n * k, wrong);
  MPI_Comm_free(&grid);
  MPI_Finalize();
}
