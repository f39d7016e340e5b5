// SPDX-License-Identifier: BSD-3-Clause
#include "capi/mpi_arguments.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "mpi/communicator.hpp"

namespace nuice::capi {

void call_handler(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !mpi::may_be_used(comm)) return;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return;
#if MPI_VERSION >= 4
  const bool aborts = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
#else
  const bool aborts = handler == MPI_ERRORS_ARE_FATAL;
#endif
  const bool is_users = !aborts && handler != MPI_ERRORS_RETURN;
  MPI_Errhandler_free(&handler);
  if (is_users) MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
}

/// Whether data is MPI_IN_PLACE of C or of Fortran. In Fortran it is the address of a variable in the MPI
/// library. In Open MPI that variable is a symbol with one of four manglings. In MPICH it is a place in a
/// common block, after MPI_BOTTOM, or a pointer variable.
bool is_in_place(const void* data) {
  static const std::vector<const void*> marks = [] {
    std::vector<const void*> found = {MPI_IN_PLACE};
    for (const char* const name : {"mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__",
                                   "MPI_FORTRAN_IN_PLACE", "MPIR_F08_MPI_IN_PLACE", "MPI_F08_IN_PLACE"})
      if (const void* const mark = dlsym(RTLD_DEFAULT, name)) found.push_back(mark);
    for (const char* const name : {"mpipriv1_", "mpipriv1__", "mpipriv1", "MPIPRIV1"})
      if (const auto* const common = static_cast<const int*>(dlsym(RTLD_DEFAULT, name)))
        found.push_back(common + 1);
    return found;
  }();
  return std::ranges::find(marks, data) != marks.end();
}

mpi::Integers integers(const void* values, std::int64_t size, int each_bytes) {
  const auto length = static_cast<std::size_t>(size < 0 ? 0 : size);
  if (each_bytes == sizeof(std::int64_t)) return {static_cast<const std::int64_t*>(values), length};
  return {static_cast<const std::int32_t*>(values), length};
}

}  // namespace nuice::capi
