// SPDX-License-Identifier: BSD-3-Clause
// A distributed graph made of a periodic grid, as wider stencils are. p2p
// or coll: what the program uses it for
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  int dims[3] = {0, 0, 1}, periods[3] = {1, 1, 1};
  MPI_Dims_create(ranks_, 3, dims);
  MPI_Comm grid, graph;
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
  int to = right(), from = left();
  MPI_Dist_graph_create_adjacent(grid, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  const int bytes = 50000;
  unsigned char *s = malloc(bytes), *g = calloc(1, bytes);
  fill(s, rank_, to, bytes);
  if (!strcmp(argv[1], "coll"))
    MPI_Neighbor_alltoall(s, bytes, MPI_BYTE, g, bytes, MPI_BYTE, graph);
  else
    MPI_Sendrecv(s, bytes, MPI_BYTE, to, 0, g, bytes, MPI_BYTE, from, 0, graph, MPI_STATUS_IGNORE);
  say("graph on grid", g, bytes, wrong_in(g, from, rank_, bytes));
  MPI_Comm_free(&graph);
  MPI_Comm_free(&grid);
  MPI_Finalize();
}
