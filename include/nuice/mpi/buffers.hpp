// SPDX-License-Identifier: BSD-3-Clause
// Arrays, fields and messages to which a plan can be bound, instead of one buffer per partner (SendBuffer,
// ReceiveBuffer).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "nuice/core/types.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::mpi {

/// One buffer for all partners. Message i begins offsets[i] bytes after `data`. If there are no offsets, the
/// messages are contiguous, in the order of the partners.
struct SendArray {
  const void* data = nullptr;
  Bytes bytes = 0;  ///< The size of the buffer.
  std::span<const Bytes> offsets = {};
};
struct ReceiveArray {
  void* data = nullptr;
  Bytes bytes = 0;
  std::span<const Bytes> offsets = {};
};

/// A field. For partner i it has counts[i] elements of `type`, which begin offsets[i] extents of the type
/// after `data`. If there are no offsets, the elements are contiguous. The type must be committed, and may be
/// a derived type.
struct SendField {
  const void* data = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::span<const std::int64_t> counts = {};
  std::span<const std::int64_t> offsets = {};
};
struct ReceiveField {
  void* data = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::span<const std::int64_t> counts = {};
  std::span<const std::int64_t> offsets = {};
};

/// A message of `count` elements of a committed datatype, to or from a rank. The number of bytes must be the
/// same at both ends; the types may differ as MPI allows.
struct Outgoing {
  Rank to;
  const void* data;
  std::int64_t count;
  MPI_Datatype type = MPI_BYTE;
};
struct Incoming {
  Rank from;
  void* data;
  std::int64_t count;
  MPI_Datatype type = MPI_BYTE;
};

}  // namespace nuice::mpi
