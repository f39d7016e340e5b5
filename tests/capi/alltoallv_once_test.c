/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls with MPI's arguments and without init, against MPI's own. */
#include "check.h"

enum { max_ranks = 8, max_numbers = 512 };

typedef struct {
  int counts[max_ranks], displs[max_ranks];
  MPI_Count wide_counts[max_ranks];
  MPI_Aint wide_displs[max_ranks];
} Side;

static double sent[max_numbers], received[max_numbers], expected[max_numbers];

static void place(Side* side, int i, int count, int at) {
  side->counts[i] = count;
  side->displs[i] = at;
  side->wide_counts[i] = count;
  side->wide_displs[i] = at;
}

static void fill(int round) {
  for (int i = 0; i < max_numbers; ++i) {
    sent[i] = 1000.0 * my_rank + i + 0.125 * round;
    received[i] = expected[i] = -1.0;
  }
}

static void expect_same(void) { CHECK(memcmp(received, expected, sizeof expected) == 0); }

/* In every round another pair has another count; the others find what is kept. */
static int count_of(int src, int dst, int round) {
  return (src + 3 * dst + (src + dst == round ? 5 : 0)) % 9;
}

static void test_all_ranks(MPI_Comm comm) {
  for (int round = 0; round < 6; ++round) {
    Side out, in;
    for (int i = 0; i < num_ranks; ++i) {
      place(&out, i, count_of(my_rank, i, round), 20 * i);
      place(&in, i, count_of(i, my_rank, round), 20 * (num_ranks - 1 - i));
    }
    fill(round);
    MPI_Alltoallv(sent, out.counts, out.displs, MPI_DOUBLE, expected, in.counts, in.displs, MPI_DOUBLE, comm);
    MUST(nuice_alltoallv(sent, out.counts, out.displs, MPI_DOUBLE, received, in.counts, in.displs, MPI_DOUBLE,
                         comm));
    expect_same();
    for (int i = 0; i < max_numbers; ++i) received[i] = -1.0;
    MUST(nuice_alltoallv_c(sent, out.wide_counts, out.wide_displs, MPI_DOUBLE, received, in.wide_counts,
                           in.wide_displs, MPI_DOUBLE, comm));
    expect_same();
  }
}

static void test_in_place(MPI_Comm comm) {
  Side both;
  for (int i = 0; i < num_ranks; ++i) place(&both, i, 3 + (i + my_rank) % 5, 20 * i);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < max_numbers; ++i) received[i] = expected[i] = 1000.0 * my_rank + i + 0.5 * round;
    MUST(nuice_alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, received, both.counts, both.displs,
                         MPI_DOUBLE, comm));
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, expected, both.counts, both.displs, MPI_DOUBLE,
                  comm);
    expect_same();
  }
}

static void test_types(MPI_Comm comm) {
  MPI_Datatype types[max_ranks];
  Side from, to;
  for (int i = 0; i < num_ranks; ++i) {
    types[i] = (my_rank + i) % 2 == 0 ? MPI_DOUBLE : MPI_FLOAT;
    place(&from, i, 3 + my_rank, 160 * i);
    place(&to, i, 3 + i, 160 * i);
  }
  for (int round = 0; round < 4; ++round) {
    fill(round);
    if (round % 2 == 0)
      MUST(nuice_alltoallw(sent, from.counts, from.displs, types, received, to.counts, to.displs, types,
                           comm));
    else
      MUST(nuice_alltoallw_c(sent, from.wide_counts, from.wide_displs, types, received, to.wide_counts,
                             to.wide_displs, types, comm));
    MPI_Alltoallw(sent, from.counts, from.displs, types, expected, to.counts, to.displs, types, comm);
    expect_same();
  }
}

/* A ring: the same neighbour twice where there are two ranks. */
static void test_neighbours(void) {
  const int size = num_ranks, periodic = 1;
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
  Side from, to;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  for (int way = 0; way < 8; ++way) {
    const int scale = way % 4 < 2 ? 1 : (int)sizeof(double);
    fill(way);
    for (int i = 0; i < 2; ++i) {
      place(&from, i, 5, 5 * i * scale);
      place(&to, i, 5, (20 - 10 * i) * scale);
    }
    if (way % 4 == 0)
      MUST(nuice_neighbor_alltoallv(sent, from.counts, from.displs, MPI_DOUBLE, received, to.counts,
                                    to.displs, MPI_DOUBLE, ring));
    else if (way % 4 == 1)
      MUST(nuice_neighbor_alltoallv_c(sent, from.wide_counts, from.wide_displs, MPI_DOUBLE, received,
                                      to.wide_counts, to.wide_displs, MPI_DOUBLE, ring));
    else if (way % 4 == 2)
      MUST(nuice_neighbor_alltoallw(sent, from.counts, from.wide_displs, types, received, to.counts,
                                    to.wide_displs, types, ring));
    else
      MUST(nuice_neighbor_alltoallw_c(sent, from.wide_counts, from.wide_displs, types, received,
                                      to.wide_counts, to.wide_displs, types, ring));
    MPI_Neighbor_alltoallw(sent, from.counts, (MPI_Aint[]){0, 40}, types, expected, to.counts,
                           (MPI_Aint[]){160, 80}, types, ring);
    expect_same();
  }
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "neighbours exchange nothing in place",
            nuice_neighbor_alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, received, to.counts,
                                     to.displs, MPI_DOUBLE, ring));
  MPI_Comm_free(&ring);
}

static void test_wrong_arguments(void) {
  MPI_Comm comm;
  Side ones, wrong;
  const int last = num_ranks - 1;
  char text[80];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < num_ranks; ++i) place(&ones, i, 1, i);
  wrong = ones;
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no topology",
            nuice_neighbor_alltoallv(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts,
                                     ones.displs, MPI_DOUBLE, comm));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "MPI_COMM_NULL",
            nuice_alltoallv(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts, ones.displs,
                            MPI_DOUBLE, MPI_COMM_NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "send: the counts are NULL",
            nuice_alltoallv(sent, NULL, ones.displs, MPI_DOUBLE, received, ones.counts, ones.displs,
                            MPI_DOUBLE, comm));
  wrong.counts[0] = my_rank == last ? 0 : 1;
  snprintf(text, sizeof text, "rank 0 -> rank %d: 8 bytes are sent, 0 are expected", last);
  MUST_FAIL(NUICE_ERR_MISMATCH, text,
            nuice_alltoallv(sent, ones.counts, ones.displs, MPI_DOUBLE, received, wrong.counts, ones.displs,
                            MPI_DOUBLE, comm));
  MUST(nuice_alltoallv(sent, ones.counts, ones.displs, MPI_DOUBLE, received, ones.counts, ones.displs,
                       MPI_DOUBLE, comm));
  /* Not the first call: the rank at fault tells the others, and all calls fail from there on. */
  wrong.counts[0] = my_rank == last ? -1 : 1;
  snprintf(text, sizeof text, "rank %d: receive: block 0, from rank 0, has -1 elements", last);
  for (int i = 0; i < 2; ++i)
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, text,
              nuice_alltoallv(sent, ones.counts, ones.displs, MPI_DOUBLE, received, wrong.counts, ones.displs,
                              MPI_DOUBLE, comm));
  MPI_Comm_free(&comm);
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
    fill(round);
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

void test_alltoallv_once(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  test_all_ranks(comm);
  test_in_place(comm);
  test_types(comm);
  MPI_Comm_free(&comm);
  test_all_ranks(MPI_COMM_WORLD);
  test_neighbours();
  test_parts();
  test_observer();
  test_wrong_arguments();
}
