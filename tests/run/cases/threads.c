// SPDX-License-Identifier: BSD-3-Clause
// Threads that exchange short messages at once, each over a communicator of its own,
// and free requests that others get again.
#include <pthread.h>

#include "case.h"
static MPI_Comm comms[3];
static unsigned char got[3][40];
static void* halo(void* which) {
  const long t = (long)which;
  unsigned char s[40];
  fill(s, rank_, (int)t, 40);
  for (int step = 0; step < 200; ++step) {
    MPI_Request q[2];
    MPI_Irecv(got[t], 40, MPI_BYTE, left(), step, comms[t], &q[0]);
    MPI_Isend(s, 40, MPI_BYTE, right(), step, comms[t], &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  }
  return NULL;
}
int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  pthread_t threads[3];
  for (long t = 0; t < 3; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  for (long t = 0; t < 3; ++t) pthread_create(&threads[t], NULL, halo, (void*)t);
  for (long t = 0; t < 3; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 3; ++t) say("thread", got[t], 40, wrong_in(got[t], left(), t, 40));
  MPI_Finalize();
}
