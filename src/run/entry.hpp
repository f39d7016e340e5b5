// SPDX-License-Identifier: BSD-3-Clause
// Defines functions of MPI that a preloaded library exports, as MPI_X and as PMPI_X (run/mpi.hpp gives the
// reason). The body has `next`, the function of that name in a later library, and `watch`, an object of the
// library's own class Watch. While next() runs, the body must hold nothing that an exception or a cancelled
// thread would leave in a bad state.
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
/// The functions of MPI 4 that Open MPI 4 has under names of its own.
#define NUICE_CALL_X(Name, PARAMETERS, ...)                \
  NUICE_ENTRY(MPIX_##Name, false, PARAMETERS, __VA_ARGS__) \
  NUICE_ENTRY(PMPIX_##Name, true, PARAMETERS, __VA_ARGS__)
// NOLINTEND(bugprone-macro-parentheses)
