// SPDX-License-Identifier: BSD-3-Clause
// A PMPI tool that is preloaded: it says at the end how many calls it has seen.
#include <mpi.h>
#include <stdio.h>
static int inits, alltoalls, waits;
int MPI_Init(int* argc, char*** argv) {
  ++inits;
  return PMPI_Init(argc, argv);
}
int MPI_Alltoall(const void* s, int n, MPI_Datatype st, void* g, int m, MPI_Datatype gt, MPI_Comm comm) {
  ++alltoalls;
  return PMPI_Alltoall(s, n, st, g, m, gt, comm);
}
int MPI_Waitall(int n, MPI_Request* q, MPI_Status* s) {
  ++waits;
  return PMPI_Waitall(n, q, s);
}
int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("%d tool: %d %d %d\n", rank, inits, alltoalls, waits);
  fflush(stdout);
  return PMPI_Finalize();
}
