// SPDX-License-Identifier: BSD-3-Clause
// What the program hears of an error.
#pragma once

#include <mpi.h>

#include <exception>

namespace nuice::dropin {

/// On stderr, with the rank; the code of MPI for it.
int report(const char* call, MPI_Comm comm, const std::exception& error);
/// The communicator's error handler is told; if it returns, so does the code.
int told_handler(MPI_Comm comm, int code);

}  // namespace nuice::dropin
