// SPDX-License-Identifier: BSD-3-Clause
// Packing by PETSc's own routines: a star forest on PETSC_COMM_SELF whose roots are a rank's data and whose leaves are the
// places of a message buffer. Its broadcast packs, its reduction unpacks, with every unit and operation that PETSc has, in the order
// of the buffer, as the type basic does.
#pragma once

#include <petsc/private/sfimpl.h>

namespace nuice::petsc {

class Packing {
 public:
  Packing() = default;
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
  ~Packing() { PetscCallAbort(PETSC_COMM_SELF, PetscSFDestroy(&forest_)); }

  /// Place k of the buffer belongs to entry entries[k] of data with num_entries entries; num_places of them. With places,
  /// k stands at places[k] instead.
  PetscErrorCode set_up(PetscInt num_entries, PetscInt num_places, const PetscInt* entries,
                        const PetscInt* places = nullptr);
  /// buffer[k] = data[entries[k]], or op of the two.
  PetscErrorCode out_of(MPI_Datatype unit, const void* data, void* buffer, MPI_Op op = MPI_REPLACE) const;
  /// data[entries[k]] = op(data[entries[k]], buffer[k]), by ascending k.
  PetscErrorCode into(MPI_Datatype unit, const void* buffer, void* data, MPI_Op op) const;

 private:
  PetscSF forest_ = nullptr;
};

}  // namespace nuice::petsc
