// SPDX-License-Identifier: BSD-3-Clause
// What a plan is bound to, in addition to a buffer for each partner (SendBuffer, ReceiveBuffer).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "nuice/core/types.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::mpi {

/// One buffer for all partners: message i lies at data + offsets[i]. Without offsets the messages are
/// contiguous, in the order of the partners.
struct SendArray {
  const void* data = nullptr;
  Bytes bytes = 0;  ///< Size of the buffer.
  std::span<const Bytes> offsets = {};
};
struct ReceiveArray {
  void* data = nullptr;
  Bytes bytes = 0;
  std::span<const Bytes> offsets = {};
};

/// One of several fields. It has counts[i] elements of a datatype for partner i, beginning offsets[i]
/// elements (extents of the type) behind data. Without offsets the elements are contiguous. The type may be
/// any committed one, also a derived one.
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

/// `count` elements of a committed datatype for a rank, or from one. Both ends must agree on the bytes; types
/// may differ as MPI allows.
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
