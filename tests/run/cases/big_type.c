// SPDX-License-Identifier: BSD-3-Clause
// Messages of one element whose type has more than 2 GiB: the same MiB again and again.
#include "case.h"
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int mib = 1 << 20;
  unsigned char *s = malloc(mib), *g = calloc(mib, 1);
  fill(s, rank_, 0, mib);
  MPI_Datatype type;
  MPI_Type_create_hvector(2100, mib, 0, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Request q[2];
  MPI_Irecv(g, 1, type, left(), 0, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(s, 1, type, right(), 0, MPI_COMM_WORLD, &q[1]);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  say("big", g, mib, wrong_in(g, left(), 0, mib));
  MPI_Type_free(&type);
  MPI_Finalize();
}
