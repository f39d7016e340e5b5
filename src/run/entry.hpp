// SPDX-License-Identifier: BSD-3-Clause
// Functions of MPI that a preloaded library exports, as MPI_X and as PMPI_X (run/mpi.hpp says why). The
// body has `next`, the function that comes behind it, and `watch` of the library's own class Watch. It
// holds nothing across next() that does not stand being left by an exception or by a thread that is
// cancelled.
#pragma once

#include "run/mpi.hpp"

// NOLINTBEGIN(bugprone-macro-parentheses)
#define NUICE_ENTRY(symbol, is_profiling, PARAMETERS, ...)                            \
  extern "C" __attribute__((visibility("default"))) int symbol PARAMETERS;            \
  int symbol PARAMETERS {                                                             \
    static const auto next = ::nuice::run::next_function<decltype(&symbol)>(#symbol); \
    [[maybe_unused]] Watch watch(__builtin_return_address(0), is_profiling);          \
    __VA_ARGS__                                                                       \
  }
#define NUICE_CALL(Name, PARAMETERS, ...)                 \
  NUICE_ENTRY(MPI_##Name, false, PARAMETERS, __VA_ARGS__) \
  NUICE_ENTRY(PMPI_##Name, true, PARAMETERS, __VA_ARGS__)
/// What Open MPI 4 has of MPI 4.
#define NUICE_CALL_X(Name, PARAMETERS, ...)                \
  NUICE_ENTRY(MPIX_##Name, false, PARAMETERS, __VA_ARGS__) \
  NUICE_ENTRY(PMPIX_##Name, true, PARAMETERS, __VA_ARGS__)
// NOLINTEND(bugprone-macro-parentheses)
