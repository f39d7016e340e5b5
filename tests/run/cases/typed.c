// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallw and MPI_Ialltoallw of strided columns, in place and not,
// persistent halos of a grid next to them.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  enum { rows = 300, columns = 64 };
  static int s[rows][columns], g[rows][columns];
  MPI_Datatype column, types[64];
  MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
  MPI_Type_commit(&column);
  int counts[64], at[64];
  for (int i = 0; i < ranks_; ++i) types[i] = column, counts[i] = 1, at[i] = 4 * i;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) s[i][j] = rank_ * 100000 + i * 100 + j;
  for (int step = 0; step < 9; ++step) {
    MPI_Request q;
    MPI_Alltoallw(s, counts, at, types, g, counts, at, types, MPI_COMM_WORLD);
    say("w", g, sizeof g, 0);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, g, counts, at, types, MPI_COMM_WORLD);
    say("in place", g, sizeof g, memcmp(s[7], g[7], 4 * ranks_) != 0);
    MPI_Ialltoallw(s, counts, at, types, g, counts, at, types, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    say("iw", g, sizeof g, 0);
  }
  MPI_Type_free(&column);
  MPI_Finalize();
}
