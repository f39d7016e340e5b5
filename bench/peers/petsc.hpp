// SPDX-License-Identifier: BSD-3-Clause
// What the programs that use PETSc share.
#pragma once

#include <petscksp.h>

/// Gives up on all ranks where PETSc reports an error.
inline void must(PetscErrorCode code) { PetscCallAbort(PETSC_COMM_WORLD, code); }

/// KSPCG, until the residual is `rtol` of what it was; `preconditioner` is the solver's, of the kind asked for.
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
