// SPDX-License-Identifier: BSD-3-Clause
// Packing by PETSc's own routines. A star forest on PETSC_COMM_SELF has a rank's data as roots and the places
// of a message buffer as leaves. Its broadcast packs and its reduction unpacks, with all units and operations
// of PETSc, in the order of the buffer, as in type basic. If PETSc supports a device, data and buffer may lie
// in its memory; PETSc's kernels pack there, or its copies move data between host and device.
#pragma once

#include <petsc/private/sfimpl.h>

#include <cstddef>
#include <vector>

namespace nuice::petsc {

/// An array, and the kind of memory in which it lies.
template <typename Data>
struct Located {
  PetscMemType memory;
  Data* data;
};
using From = Located<const void>;
using To = Located<void>;

/// The memory for one side's messages, on the host or on a device.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  /// Allocates memory of this kind, as PETSc does for sf. If the library does not support the device,
  /// allocates host memory. Call it once.
  PetscErrorCode allocate(PetscSF sf, PetscMemType memory, std::size_t bytes);
  From from() const { return {memory_, data_}; }
  To to() { return {memory_, data_}; }
  bool is_on_device() const { return !PetscMemTypeHost(memory_); }

 private:
  PetscMemType memory_ = PETSC_MEMTYPE_HOST;
  void* data_ = nullptr;
  std::vector<std::byte> on_host_;
  PetscErrorCode (*free_)(PetscMemType, void*) = nullptr;  // frees memory on a device
};

class Packing {
 public:
  Packing() = default;
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
  ~Packing() { PetscCallAbort(PETSC_COMM_SELF, PetscSFDestroy(&forest_)); }

  /// Place k of the buffer belongs to entry entries[k] of the data. The data has num_entries entries, the
  /// buffer num_places places. If `places` is given, place places[k] is used instead of place k.
  PetscErrorCode set_up(PetscInt num_entries, PetscInt num_places, const PetscInt* entries,
                        const PetscInt* places = nullptr);
  /// Sets buffer[k] = data[entries[k]], or combines the two values with op.
  PetscErrorCode out_of(MPI_Datatype unit, From data, To buffer, MPI_Op op = MPI_REPLACE) const;
  /// Sets data[entries[k]] = op(data[entries[k]], buffer[k]), by ascending k.
  PetscErrorCode into(MPI_Datatype unit, From buffer, To data, MPI_Op op) const;

 private:
  PetscSF forest_ = nullptr;
};

}  // namespace nuice::petsc
