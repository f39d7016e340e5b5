/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan that goes on with the ranks that are left after one has died: mpiexec --with-ft ulfm -n 4 follow
 *
 * Every rank sends a number to every other one and adds up what it receives. In step 3 rank 1 dies. The
 * others get NUICE_ERR_MPI, shrink the communicator (MPIX_Comm_shrink, of Open MPI 5 and other MPIs with
 * fault tolerance) and take their plan along: nuice_plan_follow_on() gives the ranks their new numbers and
 * drops the messages from and to the dead one. Only the buffers are bound again. */
#include <mpi.h>
/* after mpi.h */
#include <mpi-ext.h>
#include <nuice/nuice.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { most = 64, steps = 8, step_of_death = 3, victim = 1 };

static double out[most], in[most];

static int bind(nuice_plan* plan, nuice_exchange** x) {
  int to = 0, from = 0;
  nuice_plan_num_partners(plan, &to, &from);
  return nuice_plan_bind_array(plan, out, to * (int64_t)sizeof(double), NULL, in,
                               from * (int64_t)sizeof(double), NULL, NUICE_FORWARDS, x);
}

/* Without the dead. What has failed is left to MPI. All go back to the step that one of them has not done. */
static int go_on(MPI_Comm* comm, nuice_plan** plan, nuice_exchange** x, int* step) {
  MPI_Comm alive;
  nuice_plan* followed = NULL;
  MPIX_Comm_revoke(*comm); /* ranks that have not noticed yet do now */
  if (MPIX_Comm_shrink(*comm, &alive) != MPI_SUCCESS) return NUICE_ERR_MPI;
  MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
  MPI_Allreduce(MPI_IN_PLACE, step, 1, MPI_INT, MPI_MIN, alive);
  int status = nuice_plan_follow_on(*plan, alive, &followed);
  if (status != NUICE_OK) return status;
  nuice_exchange_free(x);
  nuice_plan_free(plan);
  *comm = alive;
  *plan = followed;
  return bind(followed, x);
}

int main(int argc, char** argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  nuice_plan* plan = NULL;
  nuice_exchange* x = NULL;
  int rank, n, ranks[most], status;
  int64_t bytes[most];
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  const int mine = rank;
  for (int i = 1; i < n; ++i) ranks[i - 1] = (rank + i) % n, bytes[i - 1] = sizeof(double);
  status = nuice_plan_create(comm, n - 1, ranks, bytes, NULL, &plan);
  if (status == NUICE_OK) status = bind(plan, &x);
  for (int step = 0; step < steps && status == NUICE_OK;) {
    if (comm == MPI_COMM_WORLD && step == step_of_death && mine == victim) raise(SIGKILL);
    for (int i = 0; i < most; ++i) out[i] = 100.0 * step + mine;
    status = nuice_exchange_start(x);
    if (status == NUICE_OK) status = nuice_exchange_wait(x);
    if (status == NUICE_OK) {
      int from = 0;
      nuice_plan_num_partners(plan, NULL, &from);
      sum = 0;
      for (int i = 0; i < from; ++i) sum += in[i];
      ++step;
    } else if (status == NUICE_ERR_MPI) {
      printf("rank %d: %s\n", mine, nuice_error_text());
      status = go_on(&comm, &plan, &x, &step);
    }
  }
  if (status != NUICE_OK) printf("rank %d: given up: %s\n", mine, nuice_error_text());
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  if (rank == 0 && status == NUICE_OK) printf("%d ranks are left; rank 0 has received %g\n", n, sum);
  fflush(stdout);
  if (status == NUICE_OK) MPI_Barrier(comm);
  _exit(status); /* MPI_Finalize would wait for the dead rank */
}
