/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls with MPI's arguments against MPI's own: bound once, and without init. */
#include "check.h"

enum { max_ranks = 8, max_numbers = 512 };

typedef struct {
  int counts[max_ranks], displs[max_ranks];
  MPI_Count wide_counts[max_ranks];
  MPI_Aint wide_displs[max_ranks];
} Side;

static double sent[max_numbers], received[max_numbers], expected[max_numbers];
static Side out, in;
static MPI_Datatype types[max_ranks];
static MPI_Info info;

/* In every round another pair has another count; those that find what is kept see no difference. */
static int count_of(int src, int dst, int round) {
  return (src + dst) % 3 == 1 ? 0 : (3 + src * 5 + dst + (src + dst == round ? 5 : 0)) % 14;
}

static void place(Side* side, int i, int count, int at) {
  side->counts[i] = count;
  side->displs[i] = at;
  side->wide_counts[i] = count;
  side->wide_displs[i] = at;
}

static void lay_out(int scale, int round) {
  for (int i = 0; i < num_ranks; ++i) {
    types[i] = (my_rank + i) % 2 == 0 ? MPI_DOUBLE : MPI_FLOAT;
    place(&out, i, count_of(my_rank, i, round), 20 * scale * i);
    place(&in, i, count_of(i, my_rank, round), 20 * scale * (num_ranks - 1 - i));
  }
}

enum { all_v, all_in_place, all_w, neighbours_v, neighbours_w };

static void fill(int kind, int round) {
  for (int i = 0; i < max_numbers; ++i) {
    sent[i] = 1000.0 * my_rank + i + 0.125 * round;
    received[i] = expected[i] = kind == all_in_place ? sent[i] : -1.0;
  }
}

static void expect_same(void) { CHECK(memcmp(received, expected, sizeof expected) == 0); }

/* way: with init, or without; of both, the form with wide counts.
 * at: displs or wide_displs of the narrow form. */
#define CALL(way, name, at, from, from_types, to_types)                                                 \
  ((way) == 0   ? nuice_##name##_init(from, out.counts, out.at, from_types, received, in.counts, in.at, \
                                      to_types, comm, info, x)                                          \
   : (way) == 1 ? nuice_##name##_init_c(from, out.wide_counts, out.wide_displs, from_types, received,   \
                                        in.wide_counts, in.wide_displs, to_types, comm, info, x)        \
   : (way) == 2                                                                                         \
       ? nuice_##name(from, out.counts, out.at, from_types, received, in.counts, in.at, to_types, comm) \
       : nuice_##name##_c(from, out.wide_counts, out.wide_displs, from_types, received, in.wide_counts, \
                          in.wide_displs, to_types, comm))

static int call(int kind, int way, MPI_Comm comm, nuice_request* x) {
  switch (kind) {
    case all_v:
      return CALL(way, alltoallv, displs, sent, MPI_DOUBLE, MPI_DOUBLE);
    case all_in_place:
      return CALL(way, alltoallv, displs, MPI_IN_PLACE, MPI_DATATYPE_NULL, MPI_DOUBLE);
    case all_w:
      return CALL(way, alltoallw, displs, sent, types, types);
    case neighbours_v:
      return CALL(way, neighbor_alltoallv, displs, sent, MPI_DOUBLE, MPI_DOUBLE);
    default:
      return CALL(way, neighbor_alltoallw, wide_displs, sent, types, types);
  }
}

static void call_mpi(int kind, MPI_Comm comm) {
  if (kind == all_v || kind == all_in_place)
    MPI_Alltoallv(kind == all_v ? sent : MPI_IN_PLACE, out.counts, out.displs, MPI_DOUBLE, expected,
                  in.counts, in.displs, MPI_DOUBLE, comm);
  else if (kind == all_w)
    MPI_Alltoallw(sent, out.counts, out.displs, types, expected, in.counts, in.displs, types, comm);
  else if (kind == neighbours_v)
    MPI_Neighbor_alltoallv(sent, out.counts, out.displs, MPI_DOUBLE, expected, in.counts, in.displs,
                           MPI_DOUBLE, comm);
  else
    MPI_Neighbor_alltoallw(sent, out.counts, out.wide_displs, types, expected, in.counts, in.wide_displs,
                           types, comm);
}

static void run(nuice_request* x, int round) {
  int done = 0;
  MUST(nuice_start(*x));
  if (round == 0) MUST(nuice_wait(*x));
  while (round > 0 && done == 0) MUST(nuice_test(*x, &done));
}

static void expect_as_mpi(int kind, MPI_Comm comm) {
  for (int way = 0; way < 4; ++way) {
    nuice_request x = NULL;
    for (int round = 0; round < 2; ++round) {
      fill(kind, round);
      if (way >= 2 || round == 0) MUST(call(kind, way, comm, &x));
      if (way < 2) run(&x, round);
      call_mpi(kind, comm);
      expect_same();
    }
    if (way < 2) MUST(nuice_free(&x));
    CHECK(x == NULL);
  }
}

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

static void test_all_ranks(MPI_Comm comm) {
  for (int round = 0; round < 6; ++round) {
    lay_out(1, round);
    expect_as_mpi(all_v, comm);
  }
  lay_out((int)sizeof(double), 0);
  expect_as_mpi(all_w, comm);
  for (int i = 0; i < num_ranks; ++i) place(&in, i, 3 + (i + my_rank) % 5, 20 * i);
  expect_as_mpi(all_in_place, comm);
  fill(all_in_place, 2);
  MUST(nuice_alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, received, in.counts, in.displs,
                       MPI_DOUBLE, comm));
  call_mpi(all_in_place, comm);
  expect_same();
}

static void test_options(void) {
  lay_out(1, 0);
  fill(all_v, 0);
  as_printed(sent, out.counts, out.displs, received, in.counts, in.displs, MPI_COMM_WORLD, 3);
  call_mpi(all_v, MPI_COMM_WORLD);
  expect_same();
  MPI_Info_create(&info);
  MPI_Info_set(info, "nuice", "scheduler=coloring executor=phased");
  MPI_Info_set(info, "another", "library's");
  expect_as_mpi(all_v, MPI_COMM_WORLD);
  MPI_Info_free(&info);
  info = MPI_INFO_NULL;
}

/* A ring: the same neighbour twice where there are two ranks. */
static void test_neighbours(void) {
  const int size = num_ranks, periodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  for (int kind = neighbours_v; kind <= neighbours_w; ++kind) {
    const int scale = kind == neighbours_v ? 1 : (int)sizeof(double);
    for (int i = 0; i < 2; ++i) {
      types[i] = MPI_DOUBLE;
      place(&out, i, 5, 5 * i * scale);
      place(&in, i, 5, (20 - 10 * i) * scale);
    }
    expect_as_mpi(kind, ring);
  }
  /* A rank may hear of the error of a rank that is a call ahead of it, and neighbours are not in step. */
  MPI_Barrier(ring);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "neighbourhood exchanges cannot be in place",
            nuice_neighbor_alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, received, in.counts,
                                     in.displs, MPI_DOUBLE, ring));
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

/* x: NULL for the call without init. */
static int call_with(const Side* to, const Side* from, MPI_Comm comm, nuice_request* x) {
  const int* const counts = to == NULL ? NULL : to->counts;
  return x == NULL ? nuice_alltoallv(sent, counts, from->displs, MPI_DOUBLE, received, from->counts,
                                     from->displs, MPI_DOUBLE, comm)
                   : nuice_alltoallv_init(sent, counts, from->displs, MPI_DOUBLE, received, from->counts,
                                          from->displs, MPI_DOUBLE, comm, MPI_INFO_NULL, x);
}

static void test_wrong_arguments(nuice_request* x) {
  MPI_Comm comm;
  Side ones, wrong;
  const int last = num_ranks - 1;
  char text[80];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < num_ranks; ++i) place(&ones, i, 1, i);
  wrong = ones;
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "MPI_COMM_NULL", call_with(&ones, &ones, MPI_COMM_NULL, x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "send: the counts are NULL", call_with(NULL, &ones, comm, x));
  if (x != NULL) CHECK(*x == NULL);
  wrong.counts[0] = my_rank == last ? 0 : 1;
  snprintf(text, sizeof text, "rank 0 -> rank %d: 8 bytes are sent, 0 are expected", last);
  MUST_FAIL(NUICE_ERR_MISMATCH, text, call_with(&ones, &wrong, comm, x));
  MUST(call_with(&ones, &ones, comm, x));
  if (x != NULL) MUST(nuice_free(x));
  /* Not the first call: the rank at fault tells the others, and all calls fail from there on. */
  wrong.counts[0] = my_rank == last ? -1 : 1;
  snprintf(text, sizeof text, "rank %d: receive: block 0, from rank 0, has -1 elements", last);
  for (int i = 0; i < 2; ++i) MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, text, call_with(&ones, &wrong, comm, x));
  MPI_Comm_free(&comm);
}

static void test_wrong_requests(void) {
  Side ones;
  nuice_request x = NULL;
  for (int i = 0; i < num_ranks; ++i) place(&ones, i, 1, i);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no topology",
            nuice_neighbor_alltoallv(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts,
                                     ones.displs, MPI_DOUBLE, MPI_COMM_WORLD));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no topology",
            nuice_neighbor_alltoallv_init(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts,
                                          ones.displs, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x));
  MUST_FAIL(
      NUICE_ERR_INVALID_ARGUMENT, "request is NULL",
      nuice_alltoallv_init(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts, ones.displs,
                           MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, my_rank == num_ranks - 1 ? NULL : &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_start(NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_wait(NULL));
}

static void count_begin(void* data, nuice_region region, int64_t which) {
  ++((int*)data)[region];
  (void)which;
}
static void count_end(void* data, nuice_region region, int64_t which) {
  --((int*)data)[region];
  ((int*)data)[3] += region == NUICE_REGION_EXCHANGE;
  (void)which;
}

static void test_observer(void) {
  int counts[4] = {0};
  const nuice_observer observer = {count_begin, count_end, counts};
  nuice_request x;
  Side ones;
  for (int i = 0; i < num_ranks; ++i) place(&ones, i, 1, i);
  MUST(nuice_observe(&observer));
  MUST(nuice_alltoallv_init(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts, ones.displs,
                            MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &x));
  MUST(nuice_start(x));
  CHECK(counts[NUICE_REGION_PLAN] == 0 && counts[NUICE_REGION_EXCHANGE] == 1);
  MUST(nuice_wait(x));
  MUST(nuice_observe(NULL));
  MUST(nuice_start(x));
  MUST(nuice_wait(x));
  CHECK(counts[NUICE_REGION_EXCHANGE] == 0 && counts[NUICE_REGION_PHASE] == 0 && counts[3] == 1);
  MUST(nuice_free(&x));
}

/* Messages that are ready one by one. */
static void test_parts(void) {
  MPI_Info info;
  nuice_request x;
  Side ones;
  int arrived = 0;
  for (int i = 0; i < num_ranks; ++i) place(&ones, i, 1, i);
  MPI_Info_create(&info);
  MPI_Info_set(info, "nuice", "parts=true");
  MUST(nuice_alltoallv_init(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts, ones.displs,
                            MPI_DOUBLE, MPI_COMM_WORLD, info, &x));
  MPI_Info_free(&info);
  MUST_FAIL(NUICE_ERR_STATE, "was not started", nuice_ready(x, 0));
  for (int round = 0; round < 2; ++round) {
    fill(all_v, round);
    MUST(nuice_start(x));
    for (int i = num_ranks - 1; i >= 0; --i) MUST(nuice_ready(x, i));
    for (arrived = 0; arrived == 0;) MUST(nuice_arrived(x, 0, &arrived));
    MUST(nuice_wait(x));
    for (int i = 0; i < num_ranks; ++i) CHECK(received[i] == 1000.0 * i + my_rank + 0.125 * round);
  }
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no message -1", nuice_ready(x, -1));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no message", nuice_arrived(x, num_ranks, &arrived));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "request is NULL", nuice_ready(NULL, 0));
  MUST(nuice_free(&x));
}

void test_alltoallv(void) {
  MPI_Comm comm;
  nuice_request x = (nuice_request)sent; /* set to NULL by a call that fails */
  info = MPI_INFO_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  test_all_ranks(comm);
  MPI_Comm_free(&comm);
  test_all_ranks(MPI_COMM_WORLD);
  test_options();
  test_neighbours();
  test_several();
  test_sparse();
  test_parts();
  test_observer();
  test_error_handler();
  test_wrong_arguments(&x);
  test_wrong_arguments(NULL);
  test_wrong_requests();
}
