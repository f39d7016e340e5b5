/* SPDX-License-Identifier: BSD-3-Clause */
/* What the first exchanges of a new communicator cost, all to all: first_exchanges BYTES. MPI_Alltoallv and
 * nuice_alltoallv_init, on three communicators in turn; a JSON object for each, microseconds of rank 0. */
#include <mpi.h>
#include <nuice/nuice.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 64, steps = 10000, first = 20, communicators = 3 };

static double mpi_s[steps], nuice_s[steps];

static void print(int round, const char* way, const double seconds[]) {
  double begin = 0, later = 0;
  for (int i = 0; i < first; ++i) begin += seconds[i];
  for (int i = steps / 2; i < steps; ++i) later += seconds[i];
  printf("{\"communicator\": %d, \"way\": \"%s\", \"first_us\": %.2f, \"first_20_us\": %.2f, ", round, way,
         seconds[0] * 1e6, begin * 1e6);
  printf("\"later_20_us\": %.2f}\n", later * 1e6 * first / (steps / 2));
}

int main(int argc, char** argv) {
  int rank, n, counts[most], displs[most];
  const int bytes = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n > most) MPI_Abort(MPI_COMM_WORLD, 1);
  char *out = calloc(n, bytes), *in = calloc(n, bytes);
  for (int i = 0; i < n; ++i) counts[i] = i == rank ? 0 : bytes, displs[i] = i * bytes;
  for (int round = 0; round < communicators; ++round) {
    MPI_Comm comm;
    nuice_request x;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    for (int i = 0; i < steps; ++i) {
      const double begin_s = MPI_Wtime();
      MPI_Alltoallv(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, comm);
      mpi_s[i] = MPI_Wtime() - begin_s;
    }
    if (nuice_alltoallv_init(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, comm, MPI_INFO_NULL,
                             &x) != NUICE_OK)
      fprintf(stderr, "%s\n", nuice_error_text()), MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(comm);
    for (int i = 0; i < steps; ++i) {
      const double begin_s = MPI_Wtime();
      nuice_start(x), nuice_wait(x);
      nuice_s[i] = MPI_Wtime() - begin_s;
    }
    if (rank == 0) print(round, "MPI_Alltoallv", mpi_s), print(round, "auto", nuice_s);
    nuice_free(&x);
    MPI_Comm_free(&comm);
  }
  free(out), free(in);
  MPI_Finalize();
  return 0;
}
