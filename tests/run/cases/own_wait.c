// SPDX-License-Identifier: BSD-3-Clause
// A profiling tool that is linked with the program: functions of MPI's names over PMPI. bytes
#include "case.h"
static int num_waits;
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++num_waits;
  return PMPI_Wait(request, status);
}
int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int b = atoi(argv[1]);
  unsigned char *s = calloc(ranks_, b), *g = calloc(ranks_, b);
  for (int to = 0; to < ranks_; ++to) fill(s + to * b, rank_, to, b);
  for (int i = 0; i < 20; ++i) {
    MPI_Request q;
    MPI_Alltoall(s, b, MPI_BYTE, g, b, MPI_BYTE, MPI_COMM_WORLD);
    memset(g, 0, (size_t)ranks_ * b);
    MPI_Ialltoall(s, b, MPI_BYTE, g, b, MPI_BYTE, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
  }
  say(num_waits == 20 ? "own wait" : "WRONG", g, (size_t)ranks_ * b, 0);
  MPI_Finalize();
}
