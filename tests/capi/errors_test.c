/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong on one rank is an error of all; handles that are none; texts per thread;
 * MPI's handles as Fortran has them. */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* Every rank must get the status and the text, whichever rank is at fault. More: tests/mpi/error_test.cpp. */
static void test_collective(void) {
  const int last = num_ranks - 1;
  const int is_last = my_rank == last;
  const int nobody = num_ranks;
  const int zero = 0;
  const int64_t bytes = 8;
  nuice_plan* plan = NULL;
  MUST_FAIL(NUICE_ERR_PARSE, "there is no option \"colour\"",
            nuice_plan_create(MPI_COMM_WORLD, 0, NULL, NULL, is_last ? "colour=red" : "", &plan));
  char faulty[60];
  snprintf(faulty, sizeof faulty, "rank %d: ranks cannot have -1 entries", last);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "bytes is NULL",
            nuice_plan_create(MPI_COMM_WORLD, is_last ? 1 : 0, &zero, NULL, "", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, faulty,
            nuice_plan_create(MPI_COMM_WORLD, is_last ? -1 : 0, &zero, &bytes, "", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL",
            nuice_plan_create(MPI_COMM_WORLD, 0, NULL, NULL, "", is_last ? NULL : &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "rank",
            nuice_plan_create(MPI_COMM_WORLD, 1, is_last ? &nobody : &zero, &bytes, "", &plan));
  CHECK(plan == NULL);

  /* Memory that is not there. */
  const int next = (my_rank + 1) % num_ranks;
  double value = my_rank;
  double got = -1;
  const void* send[] = {is_last ? NULL : &value};
  void* receive[] = {&got};
  nuice_exchange* x = NULL;
  MUST(nuice_plan_create(MPI_COMM_WORLD, 1, &next, &bytes, NULL, &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "rank", nuice_plan_bind(plan, send, receive, NUICE_FORWARDS, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "rank", nuice_plan_bind(plan, NULL, NULL, NUICE_FORWARDS, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "not inside the array",
            nuice_plan_bind_array(plan, &value, is_last ? 4 : 8, NULL, &got, 8, NULL, NUICE_FORWARDS, &x));
  const int64_t before = -8;
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "is negative: -8",
            nuice_plan_bind_array(plan, &value, NUICE_ANY_ROOM, is_last ? &before : NULL, &got, 8, NULL,
                                  NUICE_FORWARDS, &x));
  MUST_FAIL(
      NUICE_ERR_INVALID_ARGUMENT, "",
      nuice_plan_bind_fields(plan, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NUICE_FORWARDS, &x));

  /* What makes no sense to the C API only. */
  double sent = my_rank;
  const void* good[] = {&sent};
  const MPI_Datatype type = MPI_DOUBLE;
  const int64_t one = 1;
  const nuice_direction sideways = (nuice_direction)7;
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL",
            nuice_plan_bind(plan, good, receive, NUICE_FORWARDS, is_last ? NULL : &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "no direction 7",
            nuice_plan_bind(plan, good, receive, is_last ? sideways : NUICE_FORWARDS, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL",
            nuice_plan_bind_array(plan, &sent, 8, NULL, &got, 8, NULL, NUICE_FORWARDS, is_last ? NULL : &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "there cannot be -1 fields",
            nuice_plan_bind_fields(plan, is_last ? -1 : 1, good, &type, &one, NULL, receive, &type, &one,
                                   NULL, NUICE_FORWARDS, &x));
  snprintf(faulty, sizeof faulty, "rank %d: the array is short", last);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, faulty,
            is_last ? nuice_plan_refuse(plan, "the array is short")
                    : nuice_plan_bind(plan, good, receive, NUICE_FORWARDS, &x));
  CHECK(x == NULL);
  MUST(nuice_plan_free(&plan));
}

/* NULL is what a freed handle is: refused by this rank alone, before it talks to anyone. */
static void test_freed(void) {
  int a = 0;
  int64_t b = 0;
  double d = 0;
  const char* text = NULL;
  nuice_exchange* x = NULL;
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL",
            nuice_plan_bind(NULL, NULL, NULL, NUICE_FORWARDS, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL", nuice_plan_num_partners(NULL, &a, &a));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL", nuice_plan_sources(NULL, &a, &b));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL", nuice_plan_figure(NULL, "phases", &d));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL", nuice_plan_text(NULL, "scheduler", &text));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_start(NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_wait(NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_start_on(NULL, NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_wait_on(NULL, NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_test(NULL, &a));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_next(NULL, &a));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "halo is NULL", nuice_halo_num_entries(NULL, &b, &b));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "matrix is NULL", nuice_matrix_size(NULL, &a, &b));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "schedule is NULL", nuice_schedule_size(NULL, &b, &b));
  MUST(nuice_plan_free(NULL));
  MUST(nuice_exchange_free(NULL));
  MUST(nuice_exchange_free(&x));
}

static void test_halo_calls(void) {
  const int is_last = my_rank == num_ranks - 1;
  int64_t begins[65];
  const int64_t needed[] = {(my_rank + 1) % num_ranks, my_rank};
  const int64_t bytes = 8;
  double own = my_rank;
  double ghost = -1;
  const void* from[] = {&own};
  void* to[] = {&ghost};
  const int width = 1;
  const MPI_Datatype type = MPI_DOUBLE;
  const void* ghosts[] = {&ghost};
  void* owned[] = {&own};
  nuice_halo* halo = NULL;
  nuice_exchange* x = NULL;
  for (int r = 0; r <= num_ranks; ++r) begins[r] = r;
  MUST(nuice_halo_create_ranges(MPI_COMM_WORLD, begins, 2, needed, 8, NULL, &halo));
  if (num_ranks > 1) MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "ghosts is NULL", nuice_halo_ghosts(halo, NULL));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL",
            nuice_halo_bind_gather(halo, 1, from, to, &bytes, is_last ? NULL : &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL",
            nuice_halo_bind_scatter(halo, 1, ghosts, owned, &width, &type, MPI_SUM, is_last ? NULL : &x));
  CHECK(x == NULL);
  MUST(nuice_halo_free(&halo));
}

static void test_sizes_beyond_memory(void) {
  const int src = 0;
  const int64_t bytes = 8;
  nuice_matrix* matrix = NULL;
  MUST_FAIL(NUICE_ERR_LIMIT, "beyond", nuice_matrix_create(2, INT64_MAX, &src, &src, &bytes, &matrix));
  CHECK(matrix == NULL);
}

static nuice_fint world;
static nuice_plan* kept_plan = NULL;
static nuice_halo* kept_halo = NULL;
static nuice_exchange* kept_x = NULL;
static double kept_value = 1;
static double kept_got = 0;

void make_for_after_finalize(void) {
  const int next = (my_rank + 1) % num_ranks;
  const int64_t bytes = 8;
  int64_t begins[65] = {0};
  world = comm_f(MPI_COMM_WORLD);
  MUST(nuice_plan_create(MPI_COMM_WORLD, 1, &next, &bytes, "executor=depend", &kept_plan));
  MUST(nuice_halo_create_ranges(MPI_COMM_WORLD, begins, 0, NULL, 8, NULL, &kept_halo));
  MUST(nuice_plan_bind_array(kept_plan, &kept_value, 8, NULL, &kept_got, 8, NULL, NUICE_FORWARDS, &kept_x));
  MUST(nuice_exchange_start(kept_x));
  MUST(nuice_exchange_wait(kept_x));
  CHECK(kept_got == 1);
}

/* MPI itself ends the program at what is not looked at before. */
void test_after_finalize(void) {
  const int zero = 0;
  const int64_t bytes = 8;
  const int64_t begins[] = {0, 1};
  double value = 0;
  double got = 0;
  const void* from[] = {&value};
  void* to[] = {&got};
  const MPI_Datatype type = MPI_DOUBLE;
  const nuice_fint no_type = 0;
  nuice_plan* late = NULL;
  nuice_halo* late_halo = NULL;
  nuice_exchange* late_x = NULL;
  nuice_matrix* matrix = NULL;
  nuice_schedule* schedule = NULL;
  MUST(nuice_matrix_create(num_ranks, 0, NULL, NULL, NULL, &matrix));
  MUST(nuice_schedule_create(matrix, NULL, &schedule));
  MUST_FAIL(NUICE_ERR_STATE, "MPI", nuice_plan_create(MPI_COMM_WORLD, 1, &zero, &bytes, NULL, &late));
  MUST_FAIL(NUICE_ERR_STATE, "MPI", nuice_plan_create_f(world, 1, &zero, &bytes, NULL, &late));
  MUST_FAIL(NUICE_ERR_STATE, "MPI",
            nuice_plan_create_from_schedule(MPI_COMM_WORLD, matrix, schedule, NULL, &late));
  MUST_FAIL(NUICE_ERR_STATE, "MPI",
            nuice_halo_create_ranges(MPI_COMM_WORLD, begins, 0, NULL, 8, NULL, &late_halo));
  MUST_FAIL(NUICE_ERR_STATE, "MPI", nuice_halo_create_ranges_f(world, begins, 0, NULL, 8, NULL, &late_halo));
  MUST_FAIL(NUICE_ERR_STATE, "MPI",
            nuice_plan_bind_array(kept_plan, &value, 8, NULL, &got, 8, NULL, NUICE_FORWARDS, &late_x));
  MUST_FAIL(NUICE_ERR_STATE, "MPI",
            nuice_plan_bind_array(kept_plan, &value, 8, NULL, &got, 8, NULL, NUICE_BACKWARDS, &late_x));
  MUST_FAIL(NUICE_ERR_STATE, "MPI",
            nuice_plan_bind_fields_f(kept_plan, 1, from, &no_type, &bytes, NULL, to, &no_type, &bytes, NULL,
                                     NUICE_FORWARDS, &late_x));
  MUST_FAIL(NUICE_ERR_STATE, "MPI", nuice_halo_bind_gather(kept_halo, 1, from, to, &bytes, &late_x));
  MUST_FAIL(NUICE_ERR_STATE, "MPI",
            nuice_halo_bind_scatter(kept_halo, 1, from, to, &zero, &type, MPI_SUM, &late_x));
  MUST_FAIL(NUICE_ERR_STATE, "MPI", nuice_plan_follow(kept_plan, 1, &zero, &bytes, &late));
  MUST_FAIL(NUICE_ERR_STATE, "MPI", nuice_exchange_start(kept_x));
  MUST(nuice_exchange_free(&kept_x));
  MUST(nuice_plan_free(&kept_plan));
  MUST(nuice_halo_free(&kept_halo));
  MUST(nuice_schedule_free(&schedule));
  MUST(nuice_matrix_free(&matrix));
}

static void* fail_elsewhere(void* text) {
  const int before = nuice_error_text()[0] == '\0'; /* another thread's error is not here */
  const char* name = NULL;
  const int status = nuice_table_row("planets", 0, &name, NULL);
  *(int*)text =
      before && status == NUICE_ERR_INVALID_ARGUMENT && strstr(nuice_error_text(), "planets") != NULL;
  return NULL;
}

static void test_threads(void) {
  pthread_t thread;
  int ok = 0;
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_start(NULL));
  CHECK(pthread_create(&thread, NULL, fail_elsewhere, &ok) == 0);
  pthread_join(thread, NULL);
  CHECK(ok);
  CHECK(strstr(nuice_error_text(), "exchange is NULL") != NULL);
}

static int is_busy(int status) {
  return status == NUICE_ERR_STATE && strstr(nuice_error_text(), "another thread") != NULL;
}

/* Until the other thread has left its own call. */
static void* wait_elsewhere(void* x) {
  while (is_busy(nuice_exchange_wait((nuice_exchange*)x))) continue;
  return NULL;
}

/* Rank 1 waits for rank 0 in one thread, and in another does what would take its messages
 * and its memory; then rank 0 starts. */
static void test_an_exchange_in_two_threads(void) {
  const int next = (my_rank + 1) % num_ranks;
  const int64_t bytes = 8;
  const struct timespec a_moment = {0, 1000000};
  int level = 0;
  double value = my_rank;
  double got = -1;
  const void* send[] = {&value};
  void* receive[] = {&got};
  nuice_plan* plan = NULL;
  nuice_exchange* x = NULL;
  pthread_t thread;
  MPI_Query_thread(&level);
  if (num_ranks == 1 || level < MPI_THREAD_MULTIPLE) return;
  MUST(nuice_plan_create(MPI_COMM_WORLD, 1, &next, &bytes, "executor=async", &plan));
  MUST(nuice_plan_bind(plan, send, receive, NUICE_FORWARDS, &x));
  if (my_rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MUST(nuice_exchange_start(x));
  if (my_rank == 1) {
    int done = 0;
    int status = NUICE_OK;
    CHECK(pthread_create(&thread, NULL, wait_elsewhere, x) == 0);
    while (!is_busy(status)) {
      nanosleep(&a_moment, NULL); /* in which the other one begins to wait */
      status = nuice_exchange_test(x, &done);
    }
    CHECK(!done);
    MUST_FAIL(NUICE_ERR_STATE, "another thread", nuice_exchange_free(&x));
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    CHECK(x != NULL);
  } else {
    MUST(nuice_exchange_wait(x));
  }
  CHECK(got == (my_rank + num_ranks - 1) % num_ranks);
  MUST(nuice_exchange_free(&x));
  MUST(nuice_plan_free(&plan));
}

/* What a child did with its parent's exchange, its parent would find undone, or done twice. */
static void test_forked(void) {
  const int next = (my_rank + 1) % num_ranks;
  const int64_t bytes = 8;
  double value = my_rank;
  double got = -1;
  int ended = -1;
  nuice_plan* plan = NULL;
  nuice_plan* other = NULL;
  nuice_exchange* x = NULL;
  MUST(nuice_plan_create(MPI_COMM_WORLD, 1, &next, &bytes, NULL, &plan));
  MUST(nuice_plan_bind_array(plan, &value, 8, NULL, &got, 8, NULL, NUICE_FORWARDS, &x));
  MUST(nuice_exchange_start(x));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int done = 0;
    num_failed = 0;
    MUST_FAIL(NUICE_ERR_STATE, "forked", nuice_exchange_test(x, &done));
    MUST_FAIL(NUICE_ERR_STATE, "forked", nuice_exchange_start(x));
    MUST_FAIL(NUICE_ERR_STATE, "forked", nuice_exchange_free(&x));
    MUST_FAIL(NUICE_ERR_STATE, "forked", nuice_plan_follow(plan, 0, NULL, NULL, &other));
    MUST_FAIL(NUICE_ERR_STATE, "forked", nuice_plan_free(&plan));
    MUST_FAIL(NUICE_ERR_STATE, "forked", nuice_plan_create(MPI_COMM_WORLD, 1, &next, &bytes, NULL, &other));
    _exit(num_failed);
  }
  CHECK(child > 0 && waitpid(child, &ended, 0) == child);
  CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  MUST(nuice_exchange_wait(x));
  CHECK(got == (my_rank + num_ranks - 1) % num_ranks);
  MUST(nuice_exchange_free(&x));
  MUST(nuice_plan_free(&plan));
}

void test_errors(void) {
  test_collective();
  test_freed();
  test_halo_calls();
  test_sizes_beyond_memory();
  test_threads();
  test_an_exchange_in_two_threads();
  test_forked();
}

/* The twins of the calls with MPI's arguments; a length with each array. */
static void test_blocks(void) {
  const nuice_fint comm = comm_f(MPI_COMM_WORLD), type = type_f(MPI_DOUBLE);
  const int next = (my_rank + 1) % num_ranks, last = (my_rank + num_ranks - 1) % num_ranks;
  int64_t counts[8] = {0}, two = 1;
  int displs[8] = {0}, came_from = -1;
  double values[16], got[16];
  const void* at[] = {values};
  nuice_blocks_f from = {values, sizeof values, 16, num_ranks, counts, displs, 8, 4, 1, &type}, to = from;
  nuice_request x = NULL;
  nuice_received* received = NULL;
  nuice_fint no_requests[1];
  for (int i = 0; i < num_ranks; ++i) counts[i] = 1, displs[i] = i;
  for (int i = 0; i < 16; ++i) values[i] = my_rank, got[i] = -1;
  to.data = got;
  MUST(nuice_alltoallv_init_f(0, &from, &to, comm, NULL, NULL, &x)); /* every second number */
  MUST(nuice_start(x));
  MUST(nuice_waitall_mpi_f(1, &x, 0, no_requests));
  for (int i = 0; i < num_ranks; ++i) CHECK(got[2 * i] == i && got[2 * i + 1] == -1);
  MUST(nuice_free(&x));
  for (int i = 0; i < 16; ++i) got[i] = -1;
  MUST(nuice_alltoallv_f(0, &from, &to, comm, NULL));
  for (int i = 0; i < num_ranks; ++i) CHECK(got[2 * i] == i && got[2 * i + 1] == -1);
  to.num_blocks = num_ranks - 1;
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "counts for",
            nuice_alltoallv_init_f(0, &from, &to, comm, NULL, NULL, &x));
  to.num_blocks = num_ranks;
  to.bytes = 8;
  if (num_ranks > 1)
    MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "of 8",
              nuice_alltoallv_init_f(0, &from, &to, comm, NULL, NULL, &x));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "rank 0: nothing",
            nuice_alltoallv_init_f(0, &from, &from, comm, NULL, my_rank == 0 ? "nothing" : "", &x));
  MUST(nuice_sparse_alltoallv_f(1, &next, at, &two, &type, comm, &received));
  MUST(nuice_received_message(received, 0, &came_from, NULL, NULL));
  CHECK(came_from == last);
  MUST(nuice_received_free(&received));
}

void test_fortran_twins(void) {
  const nuice_fint comm = comm_f(MPI_COMM_WORLD);
  const int next = (my_rank + 1) % num_ranks;
  const int last = (my_rank + num_ranks - 1) % num_ranks;
  const int64_t bytes = 8;
  const int64_t one = 1;
  double value = my_rank;
  double got = -1;
  const void* send[] = {&value};
  void* receive[] = {&got};
  const nuice_fint type = type_f(MPI_DOUBLE);
  nuice_plan* plan = NULL;
  nuice_exchange* x = NULL;
  MUST(nuice_plan_create_f(comm, 1, &next, &bytes, NULL, &plan));
  MUST(nuice_plan_bind_fields_f(plan, 1, send, &type, &one, NULL, receive, &type, &one, NULL, NUICE_FORWARDS,
                                &x));
  MUST(nuice_exchange_start(x));
  MUST(nuice_exchange_wait(x));
  CHECK(got == last);
  MUST(nuice_exchange_free(&x));
  MUST(nuice_plan_free(&plan));
  test_blocks();
}
