// SPDX-License-Identifier: BSD-3-Clause
// Fortran's functions. They lie in a library of their own and call the C functions (c_calls.cpp), so only the
// place in the program that called them is recorded here. `use mpi` and mpif.h use four manglings. `use
// mpi_f08` uses names of its own, and MPICH has others for functions with buffers. Every argument is an
// address.
#include <mpi.h>

#include "run/watch.hpp"

using namespace nuice::run;

// NOLINTBEGIN(bugprone-macro-parentheses)
#define V void*
#define P2 V a0, V a1
#define N2 a0, a1
#define P3 P2, V a2
#define N3 N2, a2
#define P4 P3, V a3
#define N4 N3, a3
#define P5 P4, V a4
#define N5 N4, a4
#define P6 P5, V a5
#define N6 N5, a5
#define P7 P6, V a6
#define N7 N6, a6
#define P8 P7, V a7
#define N8 N7, a7
#define P9 P8, V a8
#define N9 N8, a8
#define P10 P9, V a9
#define N10 N9, a9
#define P11 P10, V a10
#define N11 N10, a10
#define P12 P11, V a11
#define N12 N11, a11

#define SYMBOL(symbol, n)                                               \
  extern "C" __attribute__((visibility("default"))) void symbol(P##n) { \
    static const auto next = next_function<decltype(&symbol)>(#symbol); \
    const FortranSite site(__builtin_return_address(0));                \
    next(N##n);                                                         \
  }
/// n: the number of arguments, with the error code.
#define ALL_SYMBOLS(name, NAME, n) \
  SYMBOL(mpi_##name##_, n)         \
  SYMBOL(mpi_##name, n)            \
  SYMBOL(mpi_##name##__, n)        \
  SYMBOL(MPI_##NAME, n)            \
  SYMBOL(mpi_##name##_f08_, n)     \
  SYMBOL(mpi_##name##_f08ts_, n)
#define INIT_X(name, NAME, n) \
  SYMBOL(mpix_##name##_, n)   \
  SYMBOL(mpix_##name, n)      \
  SYMBOL(mpix_##name##__, n)  \
  SYMBOL(MPIX_##NAME, n)      \
  SYMBOL(mpix_##name##_f08_, n)
#define ALL_TO_ALL(name, NAME, n, n_started, n_init) \
  ALL_SYMBOLS(name, NAME, n)                         \
  ALL_SYMBOLS(i##name, I##NAME, n_started)           \
  ALL_SYMBOLS(name##_init, NAME##_INIT, n_init)      \
  INIT_X(name##_init, NAME##_INIT, n_init)

ALL_TO_ALL(alltoall, ALLTOALL, 8, 9, 10)
ALL_TO_ALL(alltoallv, ALLTOALLV, 10, 11, 12)
ALL_TO_ALL(alltoallw, ALLTOALLW, 10, 11, 12)
ALL_TO_ALL(neighbor_alltoall, NEIGHBOR_ALLTOALL, 8, 9, 10)
ALL_TO_ALL(neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 10, 11, 12)
ALL_TO_ALL(neighbor_alltoallw, NEIGHBOR_ALLTOALLW, 10, 11, 12)

ALL_SYMBOLS(start, START, 2)
ALL_SYMBOLS(startall, STARTALL, 3)
ALL_SYMBOLS(wait, WAIT, 3)
ALL_SYMBOLS(waitall, WAITALL, 4)
ALL_SYMBOLS(waitany, WAITANY, 5)
ALL_SYMBOLS(waitsome, WAITSOME, 6)
ALL_SYMBOLS(test, TEST, 4)
ALL_SYMBOLS(testall, TESTALL, 5)
ALL_SYMBOLS(testany, TESTANY, 6)
ALL_SYMBOLS(testsome, TESTSOME, 6)
// NOLINTEND(bugprone-macro-parentheses)
