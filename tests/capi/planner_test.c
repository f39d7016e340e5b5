/* SPDX-License-Identifier: BSD-3-Clause */
/* The planner and the names: what the library has without MPI too. */
#include <unistd.h>

#include "check.h"

/* The check is made here again, from the pieces: every byte once, no rank
 * sends or receives twice in a phase. */
static void check_pieces(const nuice_schedule* schedule) {
  int64_t num_phases = 0, num_pieces = 0, phase[16], offset[16], bytes[16], total = 0;
  int src[16], dst[16], from[16], to[16];
  MUST(nuice_schedule_size(schedule, &num_phases, &num_pieces));
  CHECK(num_phases == 2 && num_pieces == 4);
  MUST(nuice_schedule_pieces(schedule, phase, src, dst, from, to, offset, bytes));
  for (int p = 0; p < num_pieces; ++p) {
    CHECK(src[p] == from[p] && dst[p] == to[p] && offset[p] == 0);
    total += bytes[p];
    for (int q = 0; q < p; ++q) CHECK(phase[p] != phase[q] || (src[p] != src[q] && dst[p] != dst[q]));
  }
  CHECK(total == 10 + 20 + 30 + 40);
  MUST(nuice_schedule_pieces(schedule, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void test_matrix_and_schedule(void) {
  const int src[] = {2, 0, 0, 1}, dst[] = {0, 1, 2, 2}, pair[] = {1, 1};
  const int64_t bytes[] = {10, 20, 30, 40};
  char matrix_path[64], schedule_path[64];
  nuice_matrix* matrix = NULL;
  nuice_matrix* again = NULL;
  nuice_schedule* schedule = NULL;
  int num_ranks_held = 0, sorted_src[4], sorted_dst[4];
  int64_t num_messages = 0, sorted_bytes[4];
  snprintf(matrix_path, sizeof matrix_path, "capi_%ld.mtx", (long)getpid());
  snprintf(schedule_path, sizeof schedule_path, "capi_%ld.plan", (long)getpid());
  MUST(nuice_matrix_create(3, 4, src, dst, bytes, &matrix));
  MUST(nuice_matrix_size(matrix, &num_ranks_held, &num_messages));
  CHECK(num_ranks_held == 3 && num_messages == 4);
  MUST(nuice_matrix_messages(matrix, sorted_src, sorted_dst, sorted_bytes));
  CHECK(sorted_src[3] == 2 && sorted_dst[3] == 0 && sorted_bytes[3] == 10);
  MUST(nuice_matrix_save(matrix, matrix_path));
  MUST(nuice_matrix_load(matrix_path, &again));
  MUST(nuice_schedule_create(matrix, "scheduler=coloring", &schedule));
  check_pieces(schedule);
  MUST(nuice_schedule_check(schedule, again));
  MUST(nuice_schedule_save(schedule, matrix, schedule_path));
  MUST(nuice_schedule_free(&schedule));
  MUST(nuice_schedule_load(again, schedule_path, &schedule));
  check_pieces(schedule);
  MUST(nuice_schedule_free(&schedule));
  CHECK(schedule == NULL);
  remove(matrix_path);
  remove(schedule_path);

  MUST(nuice_schedule_create(matrix, "scheduler=rs_nl topology=torus:4", &schedule));
  MUST(nuice_schedule_free(&schedule));
  MUST(nuice_matrix_free(&again));
  MUST(nuice_matrix_create(3, 3, src, dst, bytes, &again));
  MUST(nuice_schedule_create(matrix, NULL, &schedule));
  MUST_FAIL(NUICE_ERR_MISMATCH, "another matrix", nuice_schedule_check(schedule, again));
  MUST_FAIL(NUICE_ERR_MISMATCH, "another matrix", nuice_schedule_save(schedule, again, schedule_path));
  MUST(nuice_schedule_free(&schedule));
  MUST(nuice_matrix_free(&again));

  MUST_FAIL(NUICE_ERR_IO, "nowhere", nuice_matrix_load("/nowhere/a.mtx", &again));
  MUST_FAIL(NUICE_ERR_PARSE, "there is no option",
            nuice_schedule_create(matrix, "executor=phased", &schedule));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "scheduler",
            nuice_schedule_create(matrix, "scheduler=best", &schedule));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "twice", nuice_matrix_create(3, 2, pair, pair, bytes, &again));
  CHECK(schedule == NULL && again == NULL);
  MUST(nuice_matrix_free(&matrix));
}

static void test_advice(void) {
  const int src[] = {0, 1}, dst[] = {1, 0};
  const int64_t bytes[] = {100000, 200000};
  const char* text = NULL;
  nuice_matrix* matrix = NULL;
  nuice_advice* advice = NULL;
  MUST(nuice_matrix_create(4, 2, src, dst, bytes, &matrix));
  MUST(nuice_advice_create(matrix, "machine=cm5-32 reuse=10", &advice));
  MUST(nuice_advice_text(advice, "scheduler", &text));
  CHECK(strlen(text) > 0);
  MUST(nuice_advice_text(advice, "text", &text));
  CHECK(strstr(text, ":") != NULL);
  MUST(nuice_advice_text(advice, "json", &text));
  CHECK(strstr(text, "\"reuse\"") != NULL && strstr(text, "cm5-32") != NULL);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "known: scheduler, executor",
            nuice_advice_text(advice, "colour", &text));
  MUST(nuice_advice_free(&advice));
  CHECK(advice == NULL);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "reuse", nuice_advice_create(matrix, "reuse=0", &advice));
  MUST(nuice_matrix_free(&matrix));
}

static void test_names(void) {
  const char* name = NULL;
  const char* summary = NULL;
  int has_coloring = 0;
  CHECK(strcmp(nuice_version(), NUICE_EXPECTED_VERSION) == 0);
  CHECK(strstr("openmpi mpich mpi_abi", nuice_mpi_name()) != NULL);
  CHECK(strcmp(nuice_status_name(NUICE_ERR_TIMEOUT), "timeout") == 0);
  CHECK(strcmp(nuice_status_name(0), "ok") == 0 && strcmp(nuice_status_name(99), "unknown") == 0);
  for (int row = 0; nuice_table_row("schedulers", row, &name, &summary) == NUICE_OK && name != NULL; ++row)
    has_coloring += strcmp(name, "coloring") == 0 && strlen(summary) > 0;
  CHECK(has_coloring == 1);
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "known: schedulers", nuice_table_row("planets", 0, &name, &summary));
  MUST_FAIL(NUICE_ERR_INVALID_ARGUMENT, "-1", nuice_table_row("schedulers", -1, &name, &summary));
}

void test_planner(void) {
  test_matrix_and_schedule();
  test_advice();
  test_names();
}
