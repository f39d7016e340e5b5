/* SPDX-License-Identifier: BSD-3-Clause */
/* The C API under MPI against a formula; tests/mpi has every executor. */
#include "check.h"

int num_failed = 0;
int my_rank = 0;
int num_ranks = 1;

enum { max_partners = 16, max_bytes = 4096 };

/* The number of bytes that rank src sends to dst: nothing to some ranks; also to itself. */
static int64_t bytes_of(int src, int dst) {
  return (src + 2 * dst) % 3 == 2 ? 0 : 40 + 24 * ((src * 7 + dst * 3) % 50);
}
/* Byte k of the message, different in every round. */
static unsigned char byte_of(int src, int dst, int64_t k, int round) {
  return (unsigned char)(src * 31 + dst * 17 + k * 7 + round * 101);
}

static int row_of(int rank, int ranks[], int64_t bytes[]) {
  int count = 0;
  for (int dst = num_ranks - 1; dst >= 0; --dst) {
    if (bytes_of(rank, dst) == 0 && dst % 2 == 0) continue; /* the others are listed with 0 bytes */
    ranks[count] = dst;
    bytes[count++] = bytes_of(rank, dst);
  }
  return count;
}

static nuice_plan* make_plan(const char* options) {
  int ranks[max_partners];
  int64_t bytes[max_partners];
  nuice_plan* plan = NULL;
  MUST(nuice_plan_create(MPI_COMM_WORLD, row_of(my_rank, ranks, bytes), ranks, bytes, options, &plan));
  return plan;
}

typedef struct {
  unsigned char send[max_partners][max_bytes];
  unsigned char receive[max_partners][max_bytes];
  const void* send_at[max_partners];
  void* receive_at[max_partners];
} Buffers;

/* What is sent backwards is what the receivers have. */
static void fill(Buffers* b, const int to[], const int64_t bytes[], int count, int round) {
  for (int i = 0; i < max_partners; ++i) {
    b->send_at[i] = b->send[i];
    b->receive_at[i] = b->receive[i];
  }
  memset(b->receive, 0, sizeof b->receive);
  for (int i = 0; i < count; ++i)
    for (int64_t k = 0; k < bytes[i]; ++k) b->send[i][k] = byte_of(my_rank, to[i], k, round);
}

static int is_delivered(const unsigned char* at, int src, int64_t bytes, int round) {
  for (int64_t k = 0; k < bytes; ++k)
    if (at[k] != byte_of(src, my_rank, k, round)) return 0;
  return 1;
}

static void wait_in_some_way(nuice_exchange* x, int way, int num_sources, const int64_t bytes[]) {
  int done = 0;
  int partner = 0;
  int seen = 0;
  int expected = 0;
  if (way == 0) {
    MUST(nuice_exchange_wait(x));
  } else if (way == 1) {
    while (done == 0) MUST(nuice_exchange_test(x, &done));
  } else {
    for (int i = 0; i < num_sources; ++i) expected += bytes[i] > 0;
    if (way == 2) {
      for (MUST(nuice_exchange_next(x, &partner)); partner >= 0; MUST(nuice_exchange_next(x, &partner)))
        ++seen;
    } else {
      do {
        MUST(nuice_exchange_poll(x, &partner));
        seen += partner >= 0;
        MUST(nuice_exchange_is_under_way(x, &done));
      } while (done != 0);
    }
    CHECK(seen == expected);
  }
}

/* The oracle is the formula: what lands from src is what src's formula says. */
static void exchange_buffers(nuice_plan* plan, nuice_direction direction) {
  static Buffers b;
  int ranks[2][max_partners];
  int64_t bytes[2][max_partners];
  int count[2] = {0, 0};
  const int to = direction == NUICE_FORWARDS ? 0 : 1;
  MUST(nuice_plan_num_partners(plan, &count[0], &count[1]));
  MUST(nuice_plan_destinations(plan, ranks[0], bytes[0]));
  MUST(nuice_plan_sources(plan, ranks[1], bytes[1]));
  fill(&b, ranks[to], bytes[to], count[to], 0);
  nuice_exchange* x = NULL;
  MUST(nuice_plan_bind(plan, b.send_at, b.receive_at, direction, &x));
  for (int round = 0; round < 4; ++round) {
    fill(&b, ranks[to], bytes[to], count[to], round);
    MUST(nuice_exchange_start(x));
    wait_in_some_way(x, round, count[1 - to], bytes[1 - to]);
    for (int i = 0; i < count[1 - to]; ++i)
      CHECK(is_delivered(b.receive[i], ranks[1 - to][i], bytes[1 - to][i], round));
  }
  MUST(nuice_exchange_free(&x));
  CHECK(x == NULL);
}

static void exchange_array(nuice_plan* plan) {
  static unsigned char send[max_partners * max_bytes];
  static unsigned char receive[max_partners * max_bytes];
  int to[max_partners], from[max_partners], num_to = 0, num_from = 0;
  int64_t send_bytes[max_partners], receive_bytes[max_partners], offsets[max_partners];
  MUST(nuice_plan_num_partners(plan, &num_to, &num_from));
  MUST(nuice_plan_destinations(plan, to, send_bytes));
  MUST(nuice_plan_sources(plan, from, receive_bytes));
  int64_t at = 0;
  for (int i = 0; i < num_to; ++i)
    for (int64_t k = 0; k < send_bytes[i]; ++k) send[at++] = byte_of(my_rank, to[i], k, 9);
  for (int i = 0; i < num_from; ++i)
    offsets[i] = (int64_t)max_bytes * (num_from - 1 - i); /* the last one first */
  nuice_exchange* x = NULL;
  MUST(nuice_plan_bind_array(plan, send, at, NULL, receive, NUICE_ANY_ROOM, offsets, NUICE_FORWARDS, &x));
  MUST(nuice_exchange_start(x));
  MUST(nuice_exchange_wait(x));
  for (int i = 0; i < num_from; ++i) CHECK(is_delivered(receive + offsets[i], from[i], receive_bytes[i], 9));
  MUST(nuice_exchange_free(&x));
}

/* Two fields: whole doubles, and every second int of an array. */
static void exchange_fields(void) {
  enum { n = 5 };
  const int next = (my_rank + 1) % num_ranks;
  const int last = (my_rank + num_ranks - 1) % num_ranks;
  const int64_t bytes[] = {n};
  double send_a[n], receive_a[n];
  int send_b[2 * n], receive_b[2 * n];
  MPI_Datatype every_second;
  MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &every_second);
  MPI_Type_commit(&every_second);
  for (int k = 0; k < n; ++k) {
    send_a[k] = my_rank + 0.25 * k;
    send_b[2 * k] = 100 * my_rank + k;
    send_b[2 * k + 1] = receive_b[2 * k + 1] = receive_b[2 * k] = -1;
  }
  const void* send[] = {send_a, send_b};
  void* receive[] = {receive_a, receive_b};
  const MPI_Datatype types[] = {MPI_DOUBLE, every_second};
  const int64_t counts[] = {n, n};
  nuice_plan* plan = NULL;
  nuice_exchange* x = NULL;
  MUST(nuice_plan_create(MPI_COMM_WORLD, 1, &next, bytes, NULL, &plan));
  MUST(nuice_plan_bind_fields(plan, 2, send, types, counts, NULL, receive, types, counts, NULL,
                              NUICE_FORWARDS, &x));
  MPI_Type_free(&every_second);
  MUST(nuice_exchange_start(x));
  MUST(nuice_exchange_wait(x));
  for (int k = 0; k < n; ++k) {
    CHECK(receive_a[k] == last + 0.25 * k);
    CHECK(receive_b[2 * k] == 100 * last + k);
    CHECK(receive_b[2 * k + 1] == -1);
  }
  MUST(nuice_exchange_free(&x));
  MUST(nuice_plan_free(&plan));
}

static void test_exchanges(void) {
  nuice_plan* plan = make_plan("scheduler=coloring executor=pairwise");
  exchange_buffers(plan, NUICE_FORWARDS);
  exchange_buffers(plan, NUICE_BACKWARDS);
  exchange_array(plan);
  MUST(nuice_plan_free(&plan));
  CHECK(plan == NULL);
  MUST(nuice_plan_free(&plan));
  exchange_fields();
}

/* What a plan tells of itself; and that its exchanges outlive it. */
static void test_properties(void) {
  const char* text = NULL;
  double value = -1;
  nuice_plan* plan = make_plan("scheduler=lp executor=phased");
  MUST(nuice_plan_text(plan, "scheduler", &text));
  CHECK(strcmp(text, "lp") == 0);
  MUST(nuice_plan_text(plan, "advice", &text));
  CHECK(strcmp(text, "") == 0);
  MUST(nuice_plan_figure(plan, "phases", &value));
  int num_masks = 1; /* lp pairs ranks by i xor k, so on 3 ranks k goes to 3 */
  while (num_masks < num_ranks) num_masks *= 2;
  CHECK(value <= num_masks - 1 && value >= (num_ranks > 1));
  MUST(nuice_plan_figure(plan, "check_s", &value));
  CHECK(value >= 0 && value < 60);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "known: hosts, messages, phases",
            nuice_plan_figure(plan, "colour", &value));
  static Buffers b;
  nuice_exchange* x = NULL;
  fill(&b, NULL, NULL, 0, 0);
  MUST(nuice_plan_bind(plan, b.send_at, b.receive_at, NUICE_FORWARDS, &x));
  MUST(nuice_exchange_text(x, "executor", &text));
  CHECK(strlen(text) > 0);
  MUST(nuice_exchange_text(x, "shared_memory", &text));
  CHECK(strcmp(text, "") == 0);
  MUST(nuice_exchange_text(x, "methods", &text));
  CHECK(strcmp(text, "") == 0);
  MUST(nuice_plan_free(&plan));
  MUST(nuice_exchange_start(x));
  MUST_FAIL(NUICE_ERR_STATE, "start()", nuice_exchange_start(x));
  MUST(nuice_exchange_wait(x));
  MUST(nuice_exchange_free(&x));

  plan = make_plan("scheduler=auto auto.machine=ethernet-10g");
  MUST(nuice_plan_text(plan, "advice", &text));
  CHECK(strstr(text, "coloring") != NULL || num_ranks == 1);
  MUST(nuice_plan_text(plan, "advice_json", &text));
  CHECK(text[0] == '{');
  MUST(nuice_plan_free(&plan));
}

/* A ring, in which rank 0 then sends to all. */
static void test_follow(void) {
  int ranks[64], num_destinations = -1;
  MPI_Comm others;
  int64_t bytes[64];
  nuice_plan* plan = NULL;
  nuice_plan* followed = NULL;
  double kept = -1, messages = -1;
  ranks[0] = (my_rank + 1) % num_ranks;
  bytes[0] = bytes_of(my_rank, ranks[0]);
  MUST(nuice_plan_create(MPI_COMM_WORLD, 1, ranks, bytes,
                         "planning=distributed scheduler=distributed_coloring distributed.gather=0", &plan));
  MUST(nuice_plan_follow(plan, 1, ranks, bytes, &followed));
  MUST(nuice_plan_figure(followed, "kept", &kept));
  MUST(nuice_plan_figure(followed, "messages", &messages));
  CHECK(kept == messages);
  MUST(nuice_plan_free(&plan));
  plan = followed;
  followed = NULL;
  MUST(nuice_plan_follow(plan, row_of(my_rank, ranks, bytes), ranks, bytes, &followed));
  exchange_buffers(followed, NUICE_FORWARDS);
  MUST(nuice_plan_free(&followed));
  MPI_Comm_split(MPI_COMM_WORLD, my_rank == 0, -my_rank, &others);
  MUST(nuice_plan_follow_on(plan, others, &followed));
  MUST(nuice_plan_num_partners(followed, &num_destinations, NULL));
  MUST(nuice_plan_destinations(followed, ranks, bytes));
  for (int i = 0; i < num_destinations; ++i) { /* the others have reversed numbers */
    const int before = my_rank == 0 ? 0 : num_ranks - 1 - ranks[i];
    CHECK(bytes[i] == bytes_of(my_rank, before));
  }
  MUST(nuice_plan_free(&followed));
  MUST(nuice_plan_follow_on_f(plan, comm_f(others), &followed));
  MUST(nuice_plan_free(&followed));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "followed is NULL",
            nuice_plan_follow_on(plan, MPI_COMM_WORLD, my_rank == num_ranks - 1 ? NULL : &followed));
  MPI_Comm_free(&others);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "ranks cannot have -1 entries",
            nuice_plan_follow(plan, my_rank == num_ranks - 1 ? -1 : 0, ranks, bytes, &followed));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "followed is NULL",
            nuice_plan_follow(plan, 0, ranks, bytes, my_rank == num_ranks - 1 ? NULL : &followed));
  MUST(nuice_plan_free(&plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL", nuice_plan_follow(plan, 0, ranks, bytes, &followed));
}

/* A schedule that was made without MPI, carried out with it. */
static void test_from_schedule(void) {
  int src[64], dst[64], num = 0;
  int64_t bytes[64];
  for (int s = 0; s < num_ranks; ++s)
    for (int d = 0; d < num_ranks; ++d)
      if (bytes_of(s, d) > 0) {
        src[num] = s;
        dst[num] = d;
        bytes[num++] = bytes_of(s, d);
      }
  nuice_matrix* matrix = NULL;
  nuice_schedule* schedule = NULL;
  nuice_plan* plan = NULL;
  MUST(nuice_matrix_create(num_ranks, num, src, dst, bytes, &matrix));
  MUST(nuice_schedule_create(matrix, "scheduler=rs_nh seed=5", &schedule));
  MUST(nuice_plan_create_from_schedule(MPI_COMM_WORLD, matrix, schedule, "executor=pairwise", &plan));
  exchange_buffers(plan, NUICE_FORWARDS);
  MUST(nuice_plan_free(&plan));
  MUST(nuice_plan_create_from_schedule_f(comm_f(MPI_COMM_WORLD), matrix, schedule, NULL, &plan));
  exchange_buffers(plan, NUICE_BACKWARDS);
  MUST(nuice_plan_free(&plan));
  nuice_matrix* other = NULL;
  MUST(nuice_matrix_create(num_ranks + 1, num, src, dst, bytes, &other));
  MUST_FAIL(NUICE_ERR_MISMATCH, "another matrix",
            nuice_plan_create_from_schedule(MPI_COMM_WORLD, other, schedule, "", &plan));
  CHECK(plan == NULL);
  MUST(nuice_matrix_free(&other));
  MUST(nuice_schedule_free(&schedule));
  MUST(nuice_matrix_free(&matrix));
}

/* What the library duplicates passes here. */
static int num_duplicates = 0;
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  ++num_duplicates;
  return PMPI_Comm_dup(comm, copy);
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* copy, MPI_Request* request) {
  ++num_duplicates;
  return PMPI_Comm_idup(comm, copy, request);
}

/* All plans of a communicator share two duplicates of it, and their
 * exchanges may be active at the same time. */
static void test_many_plans(void) {
  enum { n = 60 };
  static nuice_plan* plans[n];
  static nuice_exchange* exchanges[n];
  double send[n], receive[n];
  const int next = (my_rank + 1) % num_ranks;
  const int last = (my_rank + num_ranks - 1) % num_ranks;
  const int64_t bytes = 8;
  MPI_Comm own;
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  num_duplicates = 0;
  for (int i = 0; i < n; ++i)
    MUST(nuice_plan_create(own, 1, &next, &bytes, i % 2 == 0 ? "executor=async" : "executor=phased",
                           &plans[i]));
  CHECK(num_duplicates == 2);
  for (int i = 0; i < n; ++i) {
    send[i] = 100.0 * my_rank + i;
    receive[i] = -1;
    MUST(nuice_plan_bind_array(plans[n - 1 - i], &send[i], 8, NULL, &receive[i], 8, NULL, NUICE_FORWARDS,
                               &exchanges[i]));
  }
  for (int i = 0; i < n; ++i) MUST(nuice_exchange_start(exchanges[(i + 7 * my_rank) % n]));
  for (int i = 0; i < n; ++i) MUST(nuice_exchange_wait(exchanges[i]));
  for (int i = 0; i < n; ++i) CHECK(receive[i] == 100.0 * last + i);
  /* One that watches has its own, and does not disturb the others. */
  nuice_plan* watched = NULL;
  MUST(nuice_plan_create(own, 1, &next, &bytes, "watchdog=60s", &watched));
  CHECK(num_duplicates == 3);
  MUST(nuice_plan_free(&watched));
  for (int i = 0; i < n; ++i) {
    MUST(nuice_exchange_free(&exchanges[i]));
    MUST(nuice_plan_free(&plans[i]));
  }
  MPI_Comm_free(&own);
}

int main(int argc, char** argv) {
  nuice_plan* plan = NULL;
  int any_failed = 0;
  MUST_FAIL(NUICE_ERR_STATE, "MPI_Init", nuice_plan_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, &plan));
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  test_exchanges();
  test_properties();
  test_follow();
  test_from_schedule();
  test_many_plans();
  test_alltoallv();
  test_halo();
  test_errors();
  test_fortran_twins();
  test_planner();
  MPI_Allreduce(&num_failed, &any_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (my_rank == 0) printf("%d checks failed\n", any_failed);
  make_for_after_finalize();
  MPI_Finalize();
  num_failed = 0;
  test_after_finalize();
  return any_failed != 0 || num_failed != 0;
}
