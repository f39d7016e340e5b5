// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in the delete function of an attribute of MPI_COMM_SELF, which runs inside MPI_Finalize
// while MPI still works, as HDF5 closes files. i: MPI_Ialltoall, b: MPI_Alltoall, n:
// MPI_Ineighbor_alltoall, p: a persistent request made before
#include "case.h"
static const char* what;
static MPI_Comm ring;
static MPI_Request kept;
static unsigned char *s, *g;
enum { k = 60000 };
static void exchange(const char* when) {
  MPI_Request q = MPI_REQUEST_NULL;
  memset(g, 0, (size_t)ranks_ * k);
  if (what[0] == 'b') MPI_Alltoall(s, k, MPI_BYTE, g, k, MPI_BYTE, MPI_COMM_WORLD);
  if (what[0] == 'i') MPI_Ialltoall(s, k, MPI_BYTE, g, k, MPI_BYTE, MPI_COMM_WORLD, &q);
  if (what[0] == 'n') MPI_Ineighbor_alltoall(s, k, MPI_BYTE, g, k, MPI_BYTE, ring, &q);
  if (what[0] == 'p')
    MPI_Irecv(g, k, MPI_BYTE, left(), 0, MPI_COMM_WORLD, &q), MPI_Start(&kept),
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
  say(when, g, (size_t)ranks_ * k, 0);
}
static int delete(MPI_Comm c, int key, void* value, void* extra) {
  (void)c, (void)key, (void)value, (void)extra;
  exchange("in finalize");
  return MPI_SUCCESS;
}
int main(int argc, char** argv) {
  begin(&argc, &argv);
  what = argv[1];
  ring = ring_of(MPI_COMM_WORLD);
  s = malloc((size_t)(ranks_ + 2) * k), g = malloc((size_t)(ranks_ + 2) * k);
  for (int to = 0; to < ranks_; ++to) fill(s + (size_t)to * k, rank_, to, k);
  MPI_Send_init(s, k, MPI_BYTE, right(), 0, MPI_COMM_WORLD, &kept);
  for (int i = 0; i < 4; ++i) exchange("before"), MPI_Barrier(MPI_COMM_WORLD);
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Finalize();
}
