// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits in MPI_Recv is cancelled, as helper threads of servers are. MPI_Abort may
// be what ends it: rank 0 says so first.
#include <pthread.h>

#include "case.h"
static int cleaned;
static void clean(void* unused) { (void)unused, cleaned = 1; }
static void* receive(void* comm) {
  char c;
  pthread_cleanup_push(clean, NULL);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  MPI_Recv(&c, 1, MPI_BYTE, 0, 0, *(MPI_Comm*)comm, MPI_STATUS_IGNORE);
  pthread_cleanup_pop(0);
  return NULL;
}
int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  pthread_t thread;
  void* result;
  MPI_Comm own = MPI_COMM_SELF;
  pthread_create(&thread, NULL, receive, &own);
  usleep(300000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("%d %s %d\n", rank_, result == PTHREAD_CANCELED ? "cancelled" : "WRONG", cleaned);
  fflush(stdout);
  _exit(0);
}
