// SPDX-License-Identifier: BSD-3-Clause
// Errors: what nuice says becomes an error of PETSc with the same words; no exception leaves this library.
#pragma once

#include <petscsys.h>

#include <new>

#include "nuice/nuice.h"

#ifndef PETSC_SUCCESS  // a name since PETSc 3.19
#define PETSC_SUCCESS 0
#endif

/// Calls nuice; what fails is an error of the ranks of comm (PETSC_COMM_SELF: of this rank alone).
#define PetscCallNuice(comm, ...)                                                                        \
  do {                                                                                                   \
    const int nuice_status_ = __VA_ARGS__;                                                               \
    PetscCheck(nuice_status_ == NUICE_OK, comm, nuice::petsc::error_code_of(nuice_status_), "nuice: %s", \
               nuice_error_text());                                                                      \
  } while (0)

namespace nuice::petsc {

/// The one of PETSc's that says the most alike.
PetscErrorCode error_code_of(int status);

/// Runs what allocates by the standard library, and returns PETSc's error for no memory where there is none.
template <typename Work>
PetscErrorCode without_exceptions(Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return PetscError(PETSC_COMM_SELF, __LINE__, PETSC_FUNCTION_NAME, __FILE__, PETSC_ERR_MEM,
                      PETSC_ERROR_INITIAL, "no memory for the exchanges of a star forest");
  }
}

}  // namespace nuice::petsc
