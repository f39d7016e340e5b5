// SPDX-License-Identifier: BSD-3-Clause
// What the program hears of an error.
#pragma once

#include <mpi.h>

#include <exception>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice::dropin {

/// Nothing has moved for so long in an exchange that waits for these ranks.
Error timeout_of(double watchdog_s, const std::vector<Rank>& ranks);
/// On stderr, with the rank; the code of MPI for it.
int report(const char* call, MPI_Comm comm, const std::exception& error);
/// The communicator's error handler is told; if it returns, so does the code, but where ends of a message do not agree: the
/// program ends, as other ranks would wait for ever.
int told_handler(MPI_Comm comm, int code);

}  // namespace nuice::dropin
