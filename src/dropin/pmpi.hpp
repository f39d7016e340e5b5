// SPDX-License-Identifier: BSD-3-Clause
// Included before every file of the library that the drop-in is made of (CMakeLists.txt): their calls of MPI go to PMPI, so that
// neither this library nor another tool sees them, and MPI's objects are looked up by name, as this library is linked with no MPI.
#pragma once

#include <mpi.h>

#define MPI_Cancel PMPI_Cancel
#define MPI_Error_class PMPI_Error_class
#define MPI_Error_string PMPI_Error_string
#define MPI_Finalized PMPI_Finalized
#define MPI_Get_address PMPI_Get_address
#define MPI_Get_count PMPI_Get_count
#define MPI_Irecv PMPI_Irecv
#define MPI_Isend PMPI_Isend
#define MPI_Pack PMPI_Pack
#define MPI_Request_free PMPI_Request_free
#define MPI_Request_get_status PMPI_Request_get_status
#define MPI_Send_init PMPI_Send_init
#define MPI_Ssend_init PMPI_Ssend_init
#define MPI_Start PMPI_Start
#define MPI_Startall PMPI_Startall
#define MPI_Testall PMPI_Testall
#define MPI_Testsome PMPI_Testsome
#define MPI_Type_commit PMPI_Type_commit
#define MPI_Type_contiguous PMPI_Type_contiguous
#define MPI_Type_create_hindexed PMPI_Type_create_hindexed
#define MPI_Type_create_struct PMPI_Type_create_struct
#define MPI_Type_dup PMPI_Type_dup
#define MPI_Type_free PMPI_Type_free
#define MPI_Type_get_contents PMPI_Type_get_contents
#define MPI_Type_get_envelope PMPI_Type_get_envelope
#define MPI_Type_get_extent PMPI_Type_get_extent
#define MPI_Type_get_extent_x PMPI_Type_get_extent_x
#define MPI_Type_get_true_extent_x PMPI_Type_get_true_extent_x
#define MPI_Type_size_x PMPI_Type_size_x
#define MPI_Unpack PMPI_Unpack
#define MPI_Waitall PMPI_Waitall
#define MPI_Wtime PMPI_Wtime

#ifdef OPEN_MPI
namespace nuice::run {
/// An object of the MPI that the program has.
void* mpi_object(const char* name);
}  // namespace nuice::run

#define NUICE_MPI_OBJECT(type, name)                             \
  ([]() -> type {                                                \
    static void* const object = ::nuice::run::mpi_object(#name); \
    return static_cast<type>(object);                            \
  }())
#undef MPI_BYTE
#undef MPI_INT
#undef MPI_DOUBLE
#undef MPI_MAX
#undef MPI_SUM
#undef MPI_COMM_SELF
#undef MPI_COMM_WORLD
#undef MPI_COMM_NULL
#undef MPI_REQUEST_NULL
#undef MPI_DATATYPE_NULL
#undef MPI_INFO_NULL
#define MPI_BYTE NUICE_MPI_OBJECT(MPI_Datatype, ompi_mpi_byte)
#define MPI_INT NUICE_MPI_OBJECT(MPI_Datatype, ompi_mpi_int)
#define MPI_DOUBLE NUICE_MPI_OBJECT(MPI_Datatype, ompi_mpi_double)
#define MPI_MAX NUICE_MPI_OBJECT(MPI_Op, ompi_mpi_op_max)
#define MPI_SUM NUICE_MPI_OBJECT(MPI_Op, ompi_mpi_op_sum)
#define MPI_COMM_SELF NUICE_MPI_OBJECT(MPI_Comm, ompi_mpi_comm_self)
#define MPI_COMM_WORLD NUICE_MPI_OBJECT(MPI_Comm, ompi_mpi_comm_world)
#define MPI_COMM_NULL NUICE_MPI_OBJECT(MPI_Comm, ompi_mpi_comm_null)
#define MPI_REQUEST_NULL NUICE_MPI_OBJECT(MPI_Request, ompi_request_null)
#define MPI_DATATYPE_NULL NUICE_MPI_OBJECT(MPI_Datatype, ompi_mpi_datatype_null)
#define NUICE_ERRORS_RETURN NUICE_MPI_OBJECT(MPI_Errhandler, ompi_mpi_errors_return)
#define MPI_INFO_NULL NUICE_MPI_OBJECT(MPI_Info, ompi_mpi_info_null)
#else
#define NUICE_ERRORS_RETURN MPI_ERRORS_RETURN
#endif
