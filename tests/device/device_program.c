/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C with device pointers where it had others. The driver is the fake one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nuice/nuice.h"

int cuMemAlloc_v2(void** memory, size_t bytes);
int cuMemFree_v2(void* memory);
int cuMemcpyAsync(void* to, const void* from, size_t bytes, void* stream);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamSynchronize(void* stream);

#define CHECK(holds)                                                                               \
  do {                                                                                             \
    if (holds) break;                                                                              \
    fprintf(stderr, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #holds, nuice_error_text()); \
    MPI_Abort(MPI_COMM_WORLD, 1);                                                                  \
  } while (0)

enum { num_values = 5000 };

static void copy(void* to, const void* from, size_t bytes, void* stream) {
  CHECK(cuMemcpyAsync(to, from, bytes, stream) == 0);
  CHECK(cuStreamSynchronize(stream) == 0);
}

int main(int argc, char** argv) {
  int rank, num_ranks, round, i;
  double values[num_values], come[num_values];
  void *send, *receive, *stream;
  const char* text = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  CHECK(cuMemAlloc_v2(&send, sizeof values) == 0);
  CHECK(cuMemAlloc_v2(&receive, sizeof values) == 0);
  CHECK(cuStreamCreate(&stream, 1) == 0);
  {
    const int right = (rank + 1) % num_ranks, left = (rank + num_ranks - 1) % num_ranks;
    int* const counts = calloc(2 * (size_t)num_ranks, sizeof(int));
    int* const displs = calloc((size_t)num_ranks, sizeof(int));
    nuice_request request = NULL;
    counts[right] = counts[num_ranks + left] = num_values;
    CHECK(nuice_alltoallv_init(send, counts, displs, MPI_DOUBLE, receive, counts + num_ranks, displs,
                               MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &request) == NUICE_OK);
    for (round = 0; round < 3; ++round) {
      for (i = 0; i < num_values; ++i) values[i] = 1000000.0 * rank + 10 * i + round;
      copy(send, values, sizeof values, stream);
      if (round == 0) {
        CHECK(nuice_start(request) == NUICE_OK && nuice_waitall(1, &request) == NUICE_OK);
      } else {
        CHECK(nuice_exchange_start_on(request, stream) == NUICE_OK);
        CHECK(nuice_exchange_wait_on(request, stream) == NUICE_OK);
      }
      copy(come, receive, sizeof come, stream);
      for (i = 0; i < num_values; ++i) CHECK(come[i] == 1000000.0 * left + 10 * i + round);
    }
    CHECK(nuice_exchange_text(request, "device", &text) == NUICE_OK && strncmp(text, "staged: ", 8) == 0);
    CHECK(nuice_exchange_free(&request) == NUICE_OK);
    for (i = 0; i < num_values; ++i) values[i] = 1000.0 * rank + i;
    copy(send, values, sizeof values, NULL);
    CHECK(nuice_alltoallv(send, counts, displs, MPI_DOUBLE, receive, counts + num_ranks, displs, MPI_DOUBLE,
                          MPI_COMM_WORLD) == NUICE_OK);
    copy(come, receive, sizeof come, NULL);
    for (i = 0; i < num_values; ++i) CHECK(come[i] == 1000.0 * left + i);
    free(counts);
    free(displs);
  }
  cuMemFree_v2(send);
  cuMemFree_v2(receive);
  MPI_Finalize();
  return 0;
}
