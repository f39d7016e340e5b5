// SPDX-License-Identifier: BSD-3-Clause
// MPI's reductions for the scatter of a halo.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "nuice/mpi/halo_field.hpp"

namespace nuice::capi {

struct Combine {
  std::int64_t value_bytes = 0;
  bool is_double = false;
  mpi::CombineEntries entries = nullptr;  // null if this type has no such operation
};

/// Finds the combine for a predefined type and operation of MPI.
Combine find_combine(MPI_Datatype type, MPI_Op op);

}  // namespace nuice::capi
