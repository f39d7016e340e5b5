// SPDX-License-Identifier: BSD-3-Clause
// Converts errors of NUICE to PETSc errors with the same text. No exception leaves this library.
#pragma once

#include <petscsys.h>

#include <new>

#include "nuice/nuice.h"

#ifndef PETSC_SUCCESS  // the name exists since PETSc 3.19
#define PETSC_SUCCESS 0
#endif

/// Calls a function of NUICE. If it fails, this is an error of all ranks of comm (of this rank alone, if comm
/// is PETSC_COMM_SELF).
#define PetscCallNuice(comm, ...)                                                                        \
  do {                                                                                                   \
    const int nuice_status_ = __VA_ARGS__;                                                               \
    PetscCheck(nuice_status_ == NUICE_OK, comm, nuice::petsc::error_code_of(nuice_status_), "nuice: %s", \
               nuice_error_text());                                                                      \
  } while (0)

namespace nuice::petsc {

/// Returns the PETSc error code with the closest meaning.
PetscErrorCode error_code_of(int status);

/// Runs work that allocates with the standard library. If there is not enough memory, returns PETSc's error
/// for this.
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
