// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking calls that MPI completes at once may all have the same request (Open MPI's empty one).
// ring1: a ring of one; walls: one without neighbours; none: a graph without edges; self: MPI_COMM_SELF;
// empty: no bytes; p2p
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char* what = argv[1];
  MPI_Comm comm = MPI_COMM_WORLD, one;
  int single = 1, is_ring = !strcmp(what, "ring1");
  unsigned char s[64] = "abc", g[64] = "";
  MPI_Request q[3];
  MPI_Comm_split(MPI_COMM_WORLD, rank_, 0, &one);
  if (is_ring || !strcmp(what, "walls")) MPI_Cart_create(one, 1, &single, &is_ring, 0, &comm);
  if (!strcmp(what, "none"))
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &comm);
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < 3; ++i) {
      if (!strcmp(what, "self"))
        MPI_Ialltoall(s, 1, MPI_BYTE, g, 1, MPI_BYTE, MPI_COMM_SELF, &q[i]);
      else if (!strcmp(what, "empty"))
        MPI_Ialltoall(s, 0, MPI_BYTE, g, 0, MPI_BYTE, MPI_COMM_WORLD, &q[i]);
      else if (!strcmp(what, "p2p"))
        MPI_Isend(s, 1, MPI_BYTE, right(), 3, MPI_COMM_WORLD, &q[i]);
      else
        MPI_Ineighbor_alltoall(s, 1, MPI_BYTE, g, 1, MPI_BYTE, comm, &q[i]);
    }
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3 && !strcmp(what, "p2p"); ++i)
      MPI_Recv(g, 1, MPI_BYTE, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  say(what, g, 64, 0);
  MPI_Finalize();
}
