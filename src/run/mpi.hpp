// SPDX-License-Identifier: BSD-3-Clause
// The MPI of the program that a library is preloaded into. The library is linked with none: it is loaded
// into processes without MPI as well (mpiexec, shells).
//
// A library exports MPI_X and PMPI_X. Programs call MPI_X; Fortran's functions (in libraries of their own)
// and tools of the program's, linked or preloaded, call PMPI_X. From either the call goes on to the
// function of the same name in the libraries loaded after this one: another tool, or MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace nuice::run {

/// MPI's functions become visible to this library where the program has loaded them for itself alone, as
/// Python does.
void find_mpi();

/// The function of that name in a library loaded later. Ends the program if there is none.
void* next_named(const char* name);
template <typename Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(next_named(name));
}

MPI_Comm world();
MPI_Request null_request();
MPI_Comm null_comm();

/// Of one element; it may be more than an int can hold.
inline std::int64_t size_of(MPI_Datatype type) {
  MPI_Count bytes = 0;
  PMPI_Type_size_x(type, &bytes);
  return bytes;
}
/// Those that a collective call on it exchanges with.
inline int ranks_in(MPI_Comm comm) {
  int is_inter = 0;
  int count = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  is_inter != 0 ? PMPI_Comm_remote_size(comm, &count) : PMPI_Comm_size(comm, &count);
  return count;
}

/// Of the library or program that has this address; empty: none.
std::string file_of(const void* address);
/// Whether this code belongs to MPI, its bindings for Fortran included, or to NUICE.
bool is_mpi_code(const void* address);
/// Whether this call of a PMPI function is MPI's or NUICE's own: it comes from there, and not from the
/// bindings for Fortran.
bool is_own_call(const void* return_address);

}  // namespace nuice::run
