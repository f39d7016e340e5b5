/* SPDX-License-Identifier: BSD-3-Clause */
/* What bindgen reads. MPI's constants are macros, which it cannot; so functions return them. */
#include <nuice/nuice.h>
MPI_Comm world(void);
MPI_Datatype real8(void);
MPI_Info no_info(void);
