// SPDX-License-Identifier: BSD-3-Clause
// Packing by PETSc's own routines: a star forest on PETSC_COMM_SELF whose roots are a rank's data and whose leaves are the
// places of a message buffer. Its broadcast packs, its reduction unpacks, with every unit and operation that PETSc has, in the order
// of the buffer, as the type basic does. Where PETSc knows a device, data and buffer may lie in its memory: PETSc's kernels pack them there,
// or its copies cross.
#pragma once

#include <petsc/private/sfimpl.h>

#include <cstddef>
#include <vector>

namespace nuice::petsc {

/// An array, and what memory it lies in.
template <typename Data>
struct Located {
  PetscMemType memory;
  Data* data;
};
using From = Located<const void>;
using To = Located<void>;

/// Of a side's messages, on the host or on a device.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  /// Once. In memory of that kind, as PETSc allocates it for sf; on the host where the library knows no such device.
  PetscErrorCode allocate(PetscSF sf, PetscMemType memory, std::size_t bytes);
  From from() const { return {memory_, data_}; }
  To to() { return {memory_, data_}; }
  bool is_on_device() const { return !PetscMemTypeHost(memory_); }

 private:
  PetscMemType memory_ = PETSC_MEMTYPE_HOST;
  void* data_ = nullptr;
  std::vector<std::byte> on_host_;
  PetscErrorCode (*free_)(PetscMemType, void*) = nullptr;  // of what is on a device
};

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
  PetscErrorCode out_of(MPI_Datatype unit, From data, To buffer, MPI_Op op = MPI_REPLACE) const;
  /// data[entries[k]] = op(data[entries[k]], buffer[k]), by ascending k.
  PetscErrorCode into(MPI_Datatype unit, From buffer, To data, MPI_Op op) const;

 private:
  PetscSF forest_ = nullptr;
};

}  // namespace nuice::petsc
