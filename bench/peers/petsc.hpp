// SPDX-License-Identifier: BSD-3-Clause
// Functions that the programs with PETSc share.
#pragma once

#include <petscksp.h>

/// Aborts all ranks if PETSc reports an error.
inline void must(PetscErrorCode code) { PetscCallAbort(PETSC_COMM_WORLD, code); }

/// Makes a KSPCG that runs until the residual is `rtol` times the first one. `preconditioner` becomes the
/// solver's preconditioner, of the given kind.
inline KSP make_conjugate_gradients(Mat matrix, PCType kind, double rtol, PC& preconditioner) {
  KSP solver;
  must(KSPCreate(PETSC_COMM_WORLD, &solver));
  must(KSPSetOperators(solver, matrix, matrix));
  must(KSPSetType(solver, KSPCG));
  must(KSPGetPC(solver, &preconditioner));
  must(PCSetType(preconditioner, kind));
  must(KSPSetTolerances(solver, rtol, 1e-300, 1e300, 100000));
  return solver;
}
