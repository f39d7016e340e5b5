/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI for Fortran where it has none of its own. */
#include <stddef.h>

#include "nuice/nuice.h"

void start_mpi(int* world, int* real_type, int* add, int* rank, int* num_ranks);
void end_mpi(int* failed);

void start_mpi(int* world, int* real_type, int* add, int* rank, int* num_ranks) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, num_ranks);
#ifdef NUICE_MPI_ABI
  *world = MPI_Comm_toint(MPI_COMM_WORLD);
  *real_type = MPI_Type_toint(MPI_DOUBLE);
  *add = MPI_Op_toint(MPI_SUM);
#else
  *world = MPI_Comm_c2f(MPI_COMM_WORLD);
  *real_type = MPI_Type_c2f(MPI_DOUBLE);
  *add = MPI_Op_c2f(MPI_SUM);
#endif
}

void end_mpi(int* failed) {
  MPI_Allreduce(MPI_IN_PLACE, failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
}
