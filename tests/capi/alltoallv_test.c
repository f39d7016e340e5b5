/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls with MPI's arguments against MPI's own. */
#include "check.h"

enum { max_ranks = 8, max_numbers = 512 };

typedef struct {
  int counts[max_ranks], displs[max_ranks];
  MPI_Count wide_counts[max_ranks];
  MPI_Aint wide_displs[max_ranks];
} Side;

static double sent[max_numbers], received[max_numbers], expected[max_numbers];
static Side out, in;

static int count_of(int src, int dst) { return (src + dst) % 3 == 1 ? 0 : 3 + (src * 5 + dst) % 11; }

static void place(Side* side, int i, int count, int at) {
  side->counts[i] = count;
  side->displs[i] = at;
  side->wide_counts[i] = count;
  side->wide_displs[i] = at;
}

static void lay_out(void) {
  for (int i = 0; i < num_ranks; ++i) {
    place(&out, i, count_of(my_rank, i), 20 * i);
    place(&in, i, count_of(i, my_rank), 20 * (num_ranks - 1 - i));
  }
}

static void fill(int round) {
  for (int i = 0; i < max_numbers; ++i) {
    sent[i] = 1000.0 * my_rank + i + 0.125 * round;
    received[i] = expected[i] = -1.0;
  }
}

static void run(nuice_request* x, int round) {
  int done = 0;
  MUST(nuice_start(*x));
  if (round == 0) MUST(nuice_wait(*x));
  while (round > 0 && done == 0) MUST(nuice_test(*x, &done));
}

static void expect_same(void) { CHECK(memcmp(received, expected, sizeof expected) == 0); }

/* The four lines of docs/how-to/replace-alltoallv.md. */
/* clang-format off */
static void as_printed(const double* s, const int* sc, const int* sd, double* r, const int* rc, const int* rd,
                       MPI_Comm comm, int steps) {
  nuice_request x;
  nuice_alltoallv_init(s, sc, sd, MPI_DOUBLE, r, rc, rd, MPI_DOUBLE, comm, MPI_INFO_NULL, &x);
  for (int i = 0; i < steps; ++i) { nuice_start(x); nuice_wait(x); }
  nuice_free(&x);
}
/* clang-format on */

static void test_alltoallv_of_all(void) {
  MPI_Info info;
  fill(0);
  as_printed(sent, out.counts, out.displs, received, in.counts, in.displs, MPI_COMM_WORLD, 3);
  MPI_Alltoallv(sent, out.counts, out.displs, MPI_DOUBLE, expected, in.counts, in.displs, MPI_DOUBLE,
                MPI_COMM_WORLD);
  expect_same();
  MPI_Info_create(&info);
  MPI_Info_set(info, "nuice", "scheduler=coloring executor=phased");
  MPI_Info_set(info, "another", "library's");
  nuice_request x;
  MUST(nuice_alltoallv_init_c(sent, out.wide_counts, out.wide_displs, MPI_DOUBLE, received, in.wide_counts,
                              in.wide_displs, MPI_DOUBLE, MPI_COMM_WORLD, info, &x));
  MPI_Info_free(&info);
  for (int round = 0; round < 2; ++round) {
    fill(round);
    run(&x, round);
    MPI_Alltoallv(sent, out.counts, out.displs, MPI_DOUBLE, expected, in.counts, in.displs, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    expect_same();
  }
  MUST(nuice_free(&x));
  CHECK(x == NULL);
}

static void test_in_place(void) {
  Side both;
  nuice_request x;
  for (int i = 0; i < num_ranks; ++i)
    place(&both, i, count_of(i < my_rank ? i : my_rank, i < my_rank ? my_rank : i), 20 * i);
  MUST(nuice_alltoallv_init(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, received, both.counts, both.displs,
                            MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < max_numbers; ++i) received[i] = expected[i] = 1000.0 * my_rank + i + 0.5 * round;
    run(&x, round);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, expected, both.counts, both.displs, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    expect_same();
  }
  MUST(nuice_free(&x));
}

static void test_alltoallw_of_all(void) {
  MPI_Datatype types[max_ranks];
  Side from = out, to = in;
  nuice_request x[2];
  for (int i = 0; i < num_ranks; ++i) {
    types[i] = (my_rank + i) % 2 == 0 ? MPI_DOUBLE : MPI_FLOAT;
    place(&from, i, out.counts[i], 160 * i);
    place(&to, i, in.counts[i], 160 * i);
  }
  MUST(nuice_alltoallw_init(sent, from.counts, from.displs, types, received, to.counts, to.displs, types,
                            MPI_COMM_WORLD, MPI_INFO_NULL, &x[0]));
  MUST(nuice_alltoallw_init_c(sent, from.wide_counts, from.wide_displs, types, received, to.wide_counts,
                              to.wide_displs, types, MPI_COMM_WORLD, MPI_INFO_NULL, &x[1]));
  for (int round = 0; round < 2; ++round) {
    fill(round);
    run(&x[round], round);
    MPI_Alltoallw(sent, from.counts, from.displs, types, expected, to.counts, to.displs, types,
                  MPI_COMM_WORLD);
    expect_same();
    MUST(nuice_free(&x[round]));
  }
}

/* A ring: the same neighbour twice where there are two ranks. */
static void test_neighbours(void) {
  const int size = num_ranks, periodic = 1;
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
  Side from, to;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  for (int way = 0; way < 4; ++way) {
    const int scale = way < 2 ? 1 : (int)sizeof(double);
    nuice_request x;
    fill(way);
    for (int i = 0; i < 2; ++i) {
      place(&from, i, 5, 5 * i * scale);
      place(&to, i, 5, (20 - 10 * i) * scale);
    }
    if (way == 0)
      MUST(nuice_neighbor_alltoallv_init(sent, from.counts, from.displs, MPI_DOUBLE, received, to.counts,
                                         to.displs, MPI_DOUBLE, ring, MPI_INFO_NULL, &x));
    else if (way == 1)
      MUST(nuice_neighbor_alltoallv_init_c(sent, from.wide_counts, from.wide_displs, MPI_DOUBLE, received,
                                           to.wide_counts, to.wide_displs, MPI_DOUBLE, ring, MPI_INFO_NULL,
                                           &x));
    else if (way == 2)
      MUST(nuice_neighbor_alltoallw_init(sent, from.counts, from.wide_displs, types, received, to.counts,
                                         to.wide_displs, types, ring, MPI_INFO_NULL, &x));
    else
      MUST(nuice_neighbor_alltoallw_init_c(sent, from.wide_counts, from.wide_displs, types, received,
                                           to.wide_counts, to.wide_displs, types, ring, MPI_INFO_NULL, &x));
    run(&x, way);
    MPI_Neighbor_alltoallw(sent, from.counts, (MPI_Aint[]){0, 40}, types, expected, to.counts,
                           (MPI_Aint[]){160, 80}, types, ring);
    expect_same();
    MUST(nuice_free(&x));
  }
  MPI_Comm_free(&ring);
}

/* Three exchanges and a message of MPI's own, in all ways. */
static void test_several(void) {
  enum { num = 3 };
  static double from[num][max_ranks], to[num][max_ranks];
  nuice_request x[num + 1] = {NULL};
  MPI_Request others[2];
  int index = 0, num_done = 0, total = 0, indices[num + 1], token = my_rank, came = -1;
  Side ones;
  for (int i = 0; i < num_ranks; ++i) place(&ones, i, 1, i);
  for (int k = 0; k < num; ++k)
    MUST(nuice_alltoallv_init(from[k], ones.counts, ones.displs, MPI_DOUBLE, to[k], ones.counts, ones.displs,
                              MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x[k]));
  for (int way = 0; way < 3; ++way) {
    for (int k = 0; k < num; ++k) {
      for (int i = 0; i < num_ranks; ++i) from[k][i] = 100 * way + 10 * k + my_rank, to[k][i] = -1;
      MUST(nuice_start(x[k]));
    }
    MPI_Irecv(&came, 1, MPI_INT, (my_rank + num_ranks - 1) % num_ranks, 7, MPI_COMM_WORLD, &others[0]);
    MPI_Isend(&token, 1, MPI_INT, (my_rank + 1) % num_ranks, 7, MPI_COMM_WORLD, &others[1]);
    if (way == 0) {
      MUST(nuice_waitall_mpi(num + 1, x, 2, others, NULL));
    } else {
      for (total = 0; total < num; total += num_done) {
        if (way == 1) MUST(nuice_waitany(num + 1, x, &index));
        if (way == 2) MUST(nuice_testsome(num + 1, x, &num_done, indices));
        if (way == 1) num_done = index >= 0 && index < num;
      }
      MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
    }
    CHECK(came == (my_rank + num_ranks - 1) % num_ranks);
    for (int k = 0; k < num; ++k)
      for (int i = 0; i < num_ranks; ++i) CHECK(to[k][i] == 100 * way + 10 * k + i);
  }
  MUST(nuice_waitall(num + 1, x)); /* none is active */
  MUST(nuice_waitany(num + 1, x, &index));
  CHECK(index == -1);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "entries", nuice_waitall(-1, x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "requests is NULL", nuice_waitany(1, NULL, &index));
  for (int k = 0; k < num; ++k) MUST(nuice_free(&x[k]));
}

/* Each rank tells the next one a number, and itself nothing. */
static void test_sparse(void) {
  const int next = (my_rank + 1) % num_ranks, last = (my_rank + num_ranks - 1) % num_ranks;
  const int to[] = {next, my_rank, next}, counts[] = {2, 0, 1}, displs[] = {1, 0, 3};
  const double numbers[] = {0, my_rank, 0.5, 7};
  nuice_received* received = NULL;
  int num_messages = 0, rank = -1;
  int64_t bytes = 0;
  const void* data = NULL;
  MUST(nuice_sparse_alltoallv(numbers, 3, to, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD, &received));
  MUST(nuice_received_size(received, &num_messages));
  CHECK(num_messages == 2);
  MUST(nuice_received_message(received, 0, &rank, &bytes, &data));
  CHECK(rank == last && bytes == 16 && ((const double*)data)[0] == last && ((const double*)data)[1] == 0.5);
  MUST(nuice_received_message(received, 1, &rank, &bytes, &data));
  CHECK(rank == last && bytes == 8 && *(const double*)data == 7);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no message 2",
            nuice_received_message(received, 2, NULL, NULL, NULL));
  MUST(nuice_received_free(&received));
  CHECK(received == NULL);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, my_rank == 0 ? "ranks is NULL" : "rank -1",
            nuice_sparse_alltoallv(numbers, my_rank == 0 ? 3 : 0, NULL, NULL, NULL, MPI_DOUBLE,
                                   MPI_COMM_WORLD, &received));
}

static int num_calls = 0;
static void count_calls(MPI_Comm* comm, int* code, ...) { num_calls += comm != NULL && *code != MPI_SUCCESS; }

/* One that the program has made. */
static void test_error_handler(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  nuice_request x;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_calls, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "the counts are NULL",
            nuice_alltoallv_init(sent, NULL, NULL, MPI_DOUBLE, received, NULL, NULL, MPI_DOUBLE, comm,
                                 MPI_INFO_NULL, &x));
  CHECK(num_calls == 1);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

static void test_wrong_arguments(void) {
  Side wrong = in;
  nuice_request x = (nuice_request)sent;
  const int last = num_ranks - 1;
  char text[80];
  wrong.counts[0] = my_rank == last ? -1 : in.counts[0];
  snprintf(text, sizeof text, "rank %d: receive: block 0, from rank 0, has -1 elements", last);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, text,
            nuice_alltoallv_init(sent, out.counts, out.displs, MPI_DOUBLE, received, wrong.counts, in.displs,
                                 MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x));
  CHECK(x == NULL);
  wrong.counts[0] = my_rank == last ? in.counts[0] + 1 : in.counts[0];
  snprintf(text, sizeof text, "rank 0 -> rank %d: %d bytes are sent, %d are expected", last,
           8 * count_of(0, last), 8 * count_of(0, last) + 8);
  MUST_FAIL(NUICE_ERR_MISMATCH, text,
            nuice_alltoallv_init(sent, out.counts, out.displs, MPI_DOUBLE, received, wrong.counts, in.displs,
                                 MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "send: the counts are NULL",
            nuice_alltoallv_init(sent, NULL, out.displs, MPI_DOUBLE, received, in.counts, in.displs,
                                 MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no topology",
            nuice_neighbor_alltoallv_init(sent, out.counts, out.displs, MPI_DOUBLE, received, in.counts,
                                          in.displs, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "request is NULL",
            nuice_alltoallv_init(sent, out.counts, out.displs, MPI_DOUBLE, received, in.counts, in.displs,
                                 MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, my_rank == last ? NULL : &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_start(NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_wait(NULL));
  MUST(nuice_free(&x));
}

void test_alltoallv(void) {
  lay_out();
  test_alltoallv_of_all();
  test_in_place();
  test_alltoallw_of_all();
  test_neighbours();
  test_several();
  test_sparse();
  test_error_handler();
  test_wrong_arguments();
}
