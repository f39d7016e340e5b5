// SPDX-License-Identifier: BSD-3-Clause
// Every MPI call goes through must(): must(MPI_Barrier(comm), "MPI_Barrier").
#pragma once

#include <mpi.h>

#include <string>

namespace nuice::mpi {

/// Returns "MPI_Barrier: MPI's own text for the code".
std::string error_text(int code, const char* call);

/// Throws Error `mpi` with the name of the call and MPI's text for the code.
[[noreturn]] void fail(int code, const char* call);

/// Calls fail() unless code is MPI_SUCCESS.
inline void must(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, call);
}

/// Checks the result of duplicating a communicator. The error adds the hint that MPI may have no more
/// communicators.
void must_duplicate(int code);

/// Whether MPI calls are no longer allowed. Destructors then do not free MPI's objects.
bool is_finalized();
/// Throws Error `state` after MPI_Finalize, when MPI itself would end the program.
void require_running(const char* call);

}  // namespace nuice::mpi
