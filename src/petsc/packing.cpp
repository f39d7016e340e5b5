// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/packing.hpp"

#include "petsc/status.hpp"

namespace nuice::petsc {

PetscErrorCode Packing::set_up(PetscInt num_entries, PetscInt num_places, const PetscInt* entries,
                               const PetscInt* places) {
  PetscSFNode* remote = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PETSC_COMM_SELF, &forest_));
  PetscCall(PetscSFSetType(forest_, PETSCSFBASIC));
  forest_->vscat.logging = PETSC_TRUE;       // -log_view counts the exchange that this is a part of
  forest_->allow_multi_leaves = PETSC_TRUE;  // what the outer forest allowed is in order here
  PetscCall(PetscMalloc1(num_places, &remote));
  for (PetscInt i = 0; i < num_places; ++i) remote[i] = {0, entries[i]};
  PetscCall(PetscSFSetGraph(forest_, num_entries, num_places, const_cast<PetscInt*>(places),
                            PETSC_COPY_VALUES, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(forest_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Packing::out_of(MPI_Datatype unit, const void* data, void* buffer, MPI_Op op) const {
  PetscFunctionBegin;
  PetscCall(
      PetscSFBcastWithMemTypeBegin(forest_, unit, PETSC_MEMTYPE_HOST, data, PETSC_MEMTYPE_HOST, buffer, op));
  PetscCall(PetscSFBcastEnd(forest_, unit, data, buffer, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Packing::into(MPI_Datatype unit, const void* buffer, void* data, MPI_Op op) const {
  PetscFunctionBegin;
  PetscCall(
      PetscSFReduceWithMemTypeBegin(forest_, unit, PETSC_MEMTYPE_HOST, buffer, PETSC_MEMTYPE_HOST, data, op));
  PetscCall(PetscSFReduceEnd(forest_, unit, buffer, data, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace nuice::petsc
