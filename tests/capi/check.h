/* SPDX-License-Identifier: BSD-3-Clause */
/* What the C tests share: C99 that is C++ too. A failed check is printed and counted; tests go on. */
#ifndef NUICE_TESTS_CAPI_CHECK_H
#define NUICE_TESTS_CAPI_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nuice/nuice.h"

extern int num_failed;
extern int my_rank;
extern int num_ranks;

#define CHECK(condition) check_that((condition) != 0, #condition, __FILE__, __LINE__)
/* A call that must succeed. */
#define MUST(call) check_status((call), NUICE_OK, "", #call, __FILE__, __LINE__)
/* A call that must fail with this status and a text that contains `part`. */
#define MUST_FAIL(status, part, call) check_status((call), (status), (part), #call, __FILE__, __LINE__)

static inline void check_that(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++num_failed;
  printf("rank %d: %s:%d: not true: %s (last error: %s)\n", my_rank, file, line, what, nuice_error_text());
  fflush(stdout);
}

static inline void check_status(int status, int expected, const char* part, const char* what,
                                const char* file, int line) {
  if (status == expected && (expected == NUICE_OK || strstr(nuice_error_text(), part) != NULL)) return;
  ++num_failed;
  printf("rank %d: %s:%d: %s is %s, not %s with \"%s\": %s\n", my_rank, file, line, what,
         nuice_status_name(status), nuice_status_name(expected), part, nuice_error_text());
  fflush(stdout);
}

#ifndef NUICE_NO_MPI
/* Handles as the functions that end in _f take them. */
#ifdef NUICE_MPI_ABI
static inline nuice_fint comm_f(MPI_Comm comm) { return MPI_Comm_toint(comm); }
static inline nuice_fint type_f(MPI_Datatype type) { return MPI_Type_toint(type); }
static inline nuice_fint op_f(MPI_Op op) { return MPI_Op_toint(op); }
#else
static inline nuice_fint comm_f(MPI_Comm comm) { return MPI_Comm_c2f(comm); }
static inline nuice_fint type_f(MPI_Datatype type) { return MPI_Type_c2f(type); }
static inline nuice_fint op_f(MPI_Op op) { return MPI_Op_c2f(op); }
#endif
#endif

/* In the other files. */
void test_planner(void);
void test_halo(void);
void test_alltoallv(void);
void test_errors(void);
void make_for_after_finalize(void);
void test_after_finalize(void);
void test_fortran_twins(void);

#endif
