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

/// One buffer for all partners. Message i lies at data + offsets[i]; without offsets the messages are
/// contiguous, in the order of the partners.
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

/// One of several fields. It has counts[i] elements of a datatype for partner i, beginning offsets[i]
/// elements (extents of the type) after data. Without offsets the elements are contiguous. The type must be
/// committed and may be a derived type.
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

/// A message: `count` elements of a committed datatype for a rank, or from a rank. Both ends must agree on
/// the number of bytes; types may differ as MPI allows.
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
