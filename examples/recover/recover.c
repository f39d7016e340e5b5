/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop with an exchange that goes on after a rank has died: mpiexec --with-ft ulfm -n 4 recover
 *
 * Every rank passes what it has to the next one. In step 3 the last rank dies. The others get NUICE_ERR_MPI,
 * with its name, make a communicator without it (MPIX_Comm_shrink, of Open MPI 5 and other MPIs with fault
 * tolerance), and a plan for that. Some may have finished more steps than others, so all go back to the last
 * step that all have begun, and to what they had then. */
#include <mpi.h>
/* after mpi.h */
#include <mpi-ext.h>
#include <nuice/nuice.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { most = 64, length = 1000, steps = 8, step_of_death = 3 };

static double mine[length], next[length], saved[steps + 1][length];

/* For ranks that are neighbours in a ring; all fail or none does. */
static int plan_ring(MPI_Comm comm, nuice_request* x) {
  int sc[most] = {0}, rc[most] = {0}, zero[most] = {0}, rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  sc[(rank + 1) % n] = rc[(rank + n - 1) % n] = length;
  return nuice_alltoallv_init(mine, sc, zero, MPI_DOUBLE, next, rc, zero, MPI_DOUBLE, comm, MPI_INFO_NULL, x);
}

/* Without the dead. The old request and communicator are left to MPI. */
static int recover(MPI_Comm* comm, nuice_request* x, int* step) {
  MPI_Comm alive;
  int rank;
  MPI_Comm_rank(*comm, &rank);
  printf("rank %d: %s\n", rank, nuice_error_text());
  fflush(stdout);
  MPIX_Comm_revoke(*comm); /* ranks that have not noticed yet do now */
  if (MPIX_Comm_shrink(*comm, &alive) != MPI_SUCCESS) return NUICE_ERR_MPI;
  MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
  *comm = alive;
  nuice_free(x);
  MPI_Allreduce(MPI_IN_PLACE, step, 1, MPI_INT, MPI_MIN, alive);
  memcpy(mine, saved[*step], sizeof mine);
  return plan_ring(alive, x);
}

int main(int argc, char** argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  nuice_request x;
  int rank, n, status;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  for (int i = 0; i < length; ++i) mine[i] = rank;
  memcpy(saved[0], mine, sizeof mine);
  status = plan_ring(comm, &x);
  for (int step = 0; step < steps && status == NUICE_OK;) {
    if (comm == MPI_COMM_WORLD && step == step_of_death && rank == n - 1) raise(SIGKILL);
    status = nuice_start(x);
    if (status == NUICE_OK) status = nuice_wait(x);
    if (status == NUICE_OK) {
      memcpy(mine, next, sizeof mine);
      memcpy(saved[++step], mine, sizeof mine);
    } else if (status == NUICE_ERR_MPI) {
      status = recover(&comm, &x, &step);
    }
  }
  if (status != NUICE_OK) {
    printf("rank %d: given up: %s\n", rank, nuice_error_text());
    return 1;
  }
  MPI_Allreduce(&mine[0], &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  if (rank == 0) printf("%d ranks have finished %d steps; the sum is %g\n", n, steps, sum);
  fflush(stdout);
  nuice_free(&x);
  MPI_Barrier(comm);
  _exit(0); /* MPI_Finalize would wait for the dead rank */
}
