// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/packing.hpp"

#include "petsc/status.hpp"

namespace nuice::petsc {

PetscErrorCode Buffer::allocate(PetscSF sf, PetscMemType memory, std::size_t bytes) {
  PetscFunctionBegin;
  const bool is_known = PetscMemTypeCUDA(memory) || PetscMemTypeHIP(memory);
  if (is_known && bytes > 0) {
    memory_ = PetscMemTypeCUDA(memory) ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HIP;  // not from NVSHMEM's heap
    free_ = sf->ops->Free;
    PetscCall((*sf->ops->Malloc)(memory_, bytes, &data_));
  } else {
    PetscCall(without_exceptions([&] { return on_host_.resize(bytes), PETSC_SUCCESS; }));
    data_ = on_host_.data();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

Buffer::~Buffer() {
  if (is_on_device() && data_ != nullptr) PetscCallAbort(PETSC_COMM_SELF, (*free_)(memory_, data_));
}

PetscErrorCode Packing::set_up(PetscInt num_entries, PetscInt num_places, const PetscInt* entries,
                               const PetscInt* places) {
  PetscSFNode* remote = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PETSC_COMM_SELF, &forest_));
  PetscCall(PetscSFSetType(forest_, PETSCSFBASIC));
  forest_->vscat.logging = PETSC_TRUE;       // -log_view already counts the exchange to which this packing
                                             // belongs
  forest_->allow_multi_leaves = PETSC_TRUE;  // the outer forest has checked this
  PetscCall(PetscMalloc1(num_places, &remote));
  for (PetscInt i = 0; i < num_places; ++i) remote[i] = {0, entries[i]};
  PetscCall(PetscSFSetGraph(forest_, num_entries, num_places, const_cast<PetscInt*>(places),
                            PETSC_COPY_VALUES, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(forest_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Packing::out_of(MPI_Datatype unit, From data, To buffer, MPI_Op op) const {
  PetscFunctionBegin;
  PetscCall(
      PetscSFBcastWithMemTypeBegin(forest_, unit, data.memory, data.data, buffer.memory, buffer.data, op));
  PetscCall(PetscSFBcastEnd(forest_, unit, data.data, buffer.data, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Packing::into(MPI_Datatype unit, From buffer, To data, MPI_Op op) const {
  PetscFunctionBegin;
  PetscCall(
      PetscSFReduceWithMemTypeBegin(forest_, unit, buffer.memory, buffer.data, data.memory, data.data, op));
  PetscCall(PetscSFReduceEnd(forest_, unit, buffer.data, data.data, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace nuice::petsc
