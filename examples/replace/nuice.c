/* SPDX-License-Identifier: BSD-3-Clause */
/* Every step a rank sends each other one some numbers, and works with what it got. */
#include <mpi.h>
#include <nuice/nuice.h>
#include <stdio.h>

enum { most = 64, each = 8, steps = 50 };

int main(int argc, char** argv) {
  static double s[most * each], r[most * each];
  int sc[most], sd[most], rc[most], rd[most], rank, n;
  double mine = 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < n; ++i) {
    sc[i] = 1 + (rank + 2 * i) % each;
    rc[i] = 1 + (i + 2 * rank) % each;
    sd[i] = rd[i] = each * i;
  }
  for (int k = 0; k < each * n; ++k) s[k] = rank + 0.01 * k;
  nuice_request x;
  nuice_alltoallv_init(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x);
  for (int step = 0; step < steps; ++step) {
    nuice_start(x), nuice_wait(x);
    for (int k = 0; k < each * n; ++k) s[k] = 0.75 * s[k] + 0.25 * r[k];
  }
  nuice_free(&x);
  for (int k = 0; k < each * n; ++k) mine += s[k];
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum after %d steps: %.9f\n", steps, sum);
  MPI_Finalize();
  return 0;
}
