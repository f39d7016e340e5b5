// SPDX-License-Identifier: BSD-3-Clause
// PETSc's type basic as a PETSc with CUDA has it, on the fake device: data may lie in its memory, and Begin
// and End return before the device has done its part.
#pragma once

#include <petsc/private/sfimpl.h>

/// Makes that the type basic; PETSc's own is `reference` from then on.
PetscErrorCode register_device_basic(const char* reference);
