// SPDX-License-Identifier: BSD-3-Clause
// Attributes of MPI_COMM_WORLD and MPI_COMM_SELF that may not be copied: copies
// count as many as the program asks for.
#include "case.h"
static int copies;
static int copy(MPI_Comm c, int key, void* extra, void* in, void* out, int* flag) {
  (void)c, (void)key, (void)extra, (void)in, (void)out;
  ++copies, *flag = 0;
  return MPI_ERR_OTHER;
}
int main(int argc, char** argv) {
  begin(&argc, &argv);
  int key;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm ring = ring_of(MPI_COMM_WORLD);
  const int k = 40000;
  unsigned char *s = malloc(2 * k), *g = calloc(2, k);
  fill(s, rank_, 0, 2 * k);
  for (int i = 0; i < 8; ++i) {
    MPI_Request q;
    prime(MPI_COMM_WORLD);
    MPI_Ineighbor_alltoall(s, k, MPI_BYTE, g, k, MPI_BYTE, ring, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  say("ring", g, 2 * k, 0);
  printf("%d copies %d\n", rank_, copies);
  MPI_Comm_free(&ring);
  MPI_Finalize();
}
