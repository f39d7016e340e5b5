/* SPDX-License-Identifier: BSD-3-Clause */
/* The twin of heat.c with MPI alone. */
#include <mpi.h>
#include <stdio.h>

#include "grid.h"

int main(int argc, char** argv) {
  int rank, num_ranks, dims[2] = {0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  MPI_Dims_create(num_ranks, 2, dims);
  Grid g = make_grid(rank, dims);

  MPI_Request requests[8];
  char *send = (char*)g.send, *receive = (char*)g.receive;
  for (int p = 0; p < g.num_partners; ++p) {
    MPI_Recv_init(receive, (int)g.bytes[p], MPI_BYTE, g.ranks[p], 0, MPI_COMM_WORLD, &requests[2 * p]);
    MPI_Send_init(send, (int)g.bytes[p], MPI_BYTE, g.ranks[p], 0, MPI_COMM_WORLD, &requests[2 * p + 1]);
    send += g.bytes[p];
    receive += g.bytes[p];
  }

  for (int step = 0; step < steps; ++step) {
    pack(&g);
    MPI_Startall(2 * g.num_partners, requests);
    update(&g, 0);
    MPI_Waitall(2 * g.num_partners, requests, MPI_STATUSES_IGNORE);
    unpack(&g);
    update(&g, 1);
    swap(&g);
  }
  for (int r = 0; r < 2 * g.num_partners; ++r) MPI_Request_free(&requests[r]);

  double total = sum(&g), all = 0;
  MPI_Reduce(&total, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum after %d steps: %.6f\n", steps, all);
  free_grid(&g);
  MPI_Finalize();
  return 0;
}
