// SPDX-License-Identifier: BSD-3-Clause
// Every MPI call goes through must(): must(MPI_Barrier(comm), "MPI_Barrier").
#pragma once

#include <mpi.h>

#include <string>

namespace nuice::mpi {

/// "MPI_Barrier: MPI's own text for the code".
std::string error_text(int code, const char* call);

/// Throws Error mpi with the name of the call and MPI's own text.
[[noreturn]] void fail(int code, const char* call);

/// The same unless code is MPI_SUCCESS.
inline void must(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, call);
}

/// What the duplication of a communicator returned: its error says that there may be no more of them.
void must_duplicate(int code);

/// Whether MPI calls are allowed no more: destructors then leave MPI's objects alone.
bool is_finalized();
/// Throws Error state after MPI_Finalize, where MPI itself would end the program.
void require_running(const char* call);

}  // namespace nuice::mpi
