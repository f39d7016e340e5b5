// SPDX-License-Identifier: BSD-3-Clause
// The MPI of the program into which a library is preloaded. The library is linked with no MPI, because it is
// also loaded into processes without MPI (mpiexec, shells).
//
// Programs call MPI_X. MPI's Fortran bindings (separate libraries) and the program's tools, linked or
// preloaded, call PMPI_X. So this library exports each function under both names. Both call the function of
// the same name in the next library in load order: another tool, or MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace nuice::run {

/// Makes MPI's functions visible to this library if the program has loaded them privately, as Python does.
void find_mpi();

/// Returns the function of that name in a library loaded later. If there is none, ends the program.
void* next_named(const char* name);
template <typename Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(next_named(name));
}

MPI_Comm world();
MPI_Request null_request();
MPI_Comm null_comm();

/// Returns the bytes of one element, which may be more than an int can hold.
inline std::int64_t size_of(MPI_Datatype type) {
  MPI_Count bytes = 0;
  PMPI_Type_size_x(type, &bytes);
  return bytes;
}
/// Returns the number of ranks with which a collective call on the communicator exchanges data.
inline int ranks_in(MPI_Comm comm) {
  int is_inter = 0;
  int count = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  is_inter != 0 ? PMPI_Comm_remote_size(comm, &count) : PMPI_Comm_size(comm, &count);
  return count;
}

/// Returns the file of the library or program that contains this address; empty if there is none.
std::string file_of(const void* address);
/// Whether this code belongs to MPI, including its Fortran bindings, or to NUICE.
bool is_mpi_code(const void* address);
/// Returns whether MPI or NUICE itself makes this call of a PMPI function: the return address lies in their
/// code, but not in the Fortran bindings.
bool is_own_call(const void* return_address);

}  // namespace nuice::run
