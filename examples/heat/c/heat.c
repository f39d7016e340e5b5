/* SPDX-License-Identifier: BSD-3-Clause */
/* A 2-D heat equation with planned exchanges; heat_mpi.c does the same with MPI alone. */
#include <mpi.h>
#include <nuice/nuice.h>
#include <stdio.h>

#include "grid.h"

static void must(int status) {
  if (status == NUICE_OK) return;
  fprintf(stderr, "%s\n", nuice_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, num_ranks, dims[2] = {0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  MPI_Dims_create(num_ranks, 2, dims);
  Grid g = make_grid(rank, dims);

  nuice_plan* plan = NULL;
  nuice_exchange* halo = NULL;
  must(nuice_plan_create(MPI_COMM_WORLD, g.num_partners, g.ranks, g.bytes, NULL, &plan));
  must(nuice_plan_bind_array(plan, g.send, g.all_bytes, NULL, g.receive, g.all_bytes, NULL, NUICE_FORWARDS,
                             &halo));

  for (int step = 0; step < steps; ++step) {
    pack(&g);
    must(nuice_exchange_start(halo));
    update(&g, 0);
    must(nuice_exchange_wait(halo));
    unpack(&g);
    update(&g, 1);
    swap(&g);
  }
  must(nuice_exchange_free(&halo));
  must(nuice_plan_free(&plan));

  double total = sum(&g), all = 0;
  MPI_Reduce(&total, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum after %d steps: %.6f\n", steps, all);
  free_grid(&g);
  MPI_Finalize();
  return 0;
}
