// SPDX-License-Identifier: BSD-3-Clause
// A count that has overflowed, on one rank and after some good calls: MPI says so there, and the program gives up.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int k = 100000;
  char *s = calloc(ranks_, k), *g = calloc(ranks_, k);
  int c[64], d[64], bad[64];
  for (int p = 0; p < ranks_; ++p) c[p] = bad[p] = k, d[p] = p * k;
  for (int i = 0; i < 8; ++i) MPI_Alltoallv(s, c, d, MPI_BYTE, g, c, d, MPI_BYTE, MPI_COMM_WORLD);
  if (rank_ == 0) bad[1] = -1073741824;
  MPI_Alltoallv(s, bad, d, MPI_BYTE, g, c, d, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Finalize();
}
