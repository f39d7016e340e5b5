// SPDX-License-Identifier: BSD-3-Clause
// Halos whose requests are waited for in many ways. ways (below), with
// commas between them, bytes, steps of each
#include "case.h"
static void wait_for(const char* way, MPI_Request q[4]) {
  int k, at[4], is_done;
  if (!strcmp(way, "forwards"))
    for (int i = 0; i < 4; ++i) MPI_Wait(&q[i], MPI_STATUS_IGNORE);
  if (!strcmp(way, "backwards"))
    for (int i = 3; i >= 0; --i) MPI_Wait(&q[i], MPI_STATUS_IGNORE);
  if (!strcmp(way, "any"))
    for (int i = 0; i < 4; ++i) MPI_Waitany(4, q, at, MPI_STATUS_IGNORE);
  if (!strcmp(way, "some"))
    for (int left = 4; left > 0; left -= k) MPI_Waitsome(4, q, &k, at, MPI_STATUSES_IGNORE);
  if (!strcmp(way, "test"))
    for (int i = 0; i < 4; ++i) do
        MPI_Test(&q[i], &is_done, MPI_STATUS_IGNORE);
      while (!is_done);
  if (!strcmp(way, "testany"))
    for (int i = 0; i < 4; i += is_done) MPI_Testany(4, q, at, &is_done, MPI_STATUS_IGNORE);
  if (!strcmp(way, "testsome"))
    for (int left = 4; left > 0; left -= k) MPI_Testsome(4, q, &k, at, MPI_STATUSES_IGNORE);
  if (!strcmp(way, "testall")) do
      MPI_Testall(4, q, &is_done, MPI_STATUSES_IGNORE);
    while (!is_done);
  if (!strcmp(way, "halves"))
    MPI_Waitall(2, q + 2, MPI_STATUSES_IGNORE), MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  if (!strcmp(way, "free"))
    MPI_Request_free(&q[2]), MPI_Request_free(&q[3]), MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}
int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int bytes = atoi(argv[2]), steps = atoi(argv[3]);
  unsigned char *s = malloc(bytes), *g = malloc(2 * bytes);
  fill(s, rank_, 0, bytes);
  for (const char* way = strtok(argv[1], ","); way; way = strtok(NULL, ",")) {
    memset(g, 0, 2 * bytes);
    for (int step = 0; step < steps; ++step) {
      MPI_Request q[4];
      MPI_Irecv(g, bytes, MPI_BYTE, left(), 0, MPI_COMM_WORLD, &q[0]);
      MPI_Irecv(g + bytes, bytes, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &q[1]);
      MPI_Isend(s, bytes, MPI_BYTE, right(), 0, MPI_COMM_WORLD, &q[2]);
      MPI_Isend(s, bytes, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &q[3]);
      wait_for(way, q);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    say(way, g, 2 * bytes, wrong_in(g, left(), 0, bytes) + wrong_in(g + bytes, right(), 0, bytes));
  }
  MPI_Finalize();
}
