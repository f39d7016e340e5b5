// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 sends to rank 0, which sends nothing and therefore passes sendcount 0.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  int zero = 0, one = 1, k = 60000;
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank_ == 0, &one, MPI_UNWEIGHTED, rank_ == 1, &zero,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  unsigned char *s = calloc(k, 1), *g = calloc(k, 1);
  fill(s, rank_, 0, k);
  for (int i = 0; i < 20; ++i) {
    int sum;
    MPI_Neighbor_alltoall(s, rank_ == 1 ? k : 0, MPI_BYTE, g, rank_ == 0 ? k : 0, MPI_BYTE, graph);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  say("zero degree", g, k, 0);
  MPI_Finalize();
}
