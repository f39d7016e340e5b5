# SPDX-License-Identifier: BSD-3-Clause
# Finds MPI for C++ as MPI::MPI_CXX, without the C++ bindings, which were removed from MPI long ago. FindMPI can leave them out
# itself (MPI_CXX_SKIP_MPICXX), but then it forgets what MPI's compiler defines: without the MPI_ABI of mpicxx_abi MPICH's mpi.h is
# that of another library than the one that is linked.
find_package(MPI 3.1 REQUIRED COMPONENTS CXX)
target_compile_definitions(MPI::MPI_CXX INTERFACE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX _MPICC_H)
