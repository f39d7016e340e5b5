/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong on one rank is an error of all; handles that are none; texts per thread; MPI's handles as Fortran has them. */
#include <pthread.h>

#include "check.h"

/* Every rank must get the status and the text, whichever rank is at fault. */
static void test_collective(void) {
  const int last = num_ranks - 1;
  const int is_last = my_rank == last;
  const int nobody = num_ranks;
  const int zero = 0;
  const int64_t bytes = 8;
  const int64_t negative = -8;
  nuice_plan* plan = NULL;
  MUST_FAIL(NUICE_ERR_PARSE, "there is no option \"colour\"",
            nuice_plan_create(MPI_COMM_WORLD, 0, NULL, NULL, is_last ? "colour=red" : "", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "bytes is NULL",
            nuice_plan_create(MPI_COMM_WORLD, is_last ? 1 : 0, &zero, NULL, "", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "ranks cannot have -1 entries",
            nuice_plan_create(MPI_COMM_WORLD, is_last ? -1 : 0, &zero, &bytes, "", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "plan is NULL",
            nuice_plan_create(MPI_COMM_WORLD, 0, NULL, NULL, "", is_last ? NULL : &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "rank",
            nuice_plan_create(MPI_COMM_WORLD, 1, is_last ? &nobody : &zero, &bytes, "", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "-8",
            nuice_plan_create(MPI_COMM_WORLD, 1, &zero, is_last ? &negative : &bytes, "", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "unknown scheduler",
            nuice_plan_create(MPI_COMM_WORLD, 1, &zero, &bytes, "scheduler=best", &plan));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "MPI_COMM_NULL",
            nuice_plan_create(MPI_COMM_NULL, 1, &zero, &bytes, "", &plan));
  if (num_ranks > 1)
    MUST_FAIL(NUICE_ERR_MISMATCH, "option seed differs",
              nuice_plan_create(MPI_COMM_WORLD, 1, &zero, &bytes, is_last ? "seed=2" : "seed=1", &plan));
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
  MUST_FAIL(
      NUICE_ERR_INVALID_ARGUMENT, "",
      nuice_plan_bind_fields(plan, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NUICE_FORWARDS, &x));
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
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_test(NULL, &a));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "exchange is NULL", nuice_exchange_next(NULL, &a));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "halo is NULL", nuice_halo_num_entries(NULL, &b, &b));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "matrix is NULL", nuice_matrix_size(NULL, &a, &b));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "schedule is NULL", nuice_schedule_size(NULL, &b, &b));
  MUST(nuice_plan_free(NULL));
  MUST(nuice_exchange_free(NULL));
  MUST(nuice_exchange_free(&x));
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

void test_errors(void) {
  test_collective();
  test_freed();
  test_threads();
}

void test_fortran_twins(void) {
  const MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_WORLD);
  const int next = (my_rank + 1) % num_ranks;
  const int last = (my_rank + num_ranks - 1) % num_ranks;
  const int64_t bytes = 8;
  const int64_t one = 1;
  double value = my_rank;
  double got = -1;
  const void* send[] = {&value};
  void* receive[] = {&got};
  const MPI_Fint type = MPI_Type_c2f(MPI_DOUBLE);
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
}
