// SPDX-License-Identifier: BSD-3-Clause
// Sends doubles as shorter numbers. Values are rounded to the nearest, ties to even; values that are too
// large become infinite.
#pragma once

#include <cstddef>
#include <span>

#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Returns the bytes of a field's entry in messages.
std::size_t wire_bytes(Wire wire, std::int64_t entry_bytes);

/// A conversion of `count` contiguous doubles, which need not be aligned.
struct Convert {
  Wire wire;
  std::byte* to;
  const std::byte* from;
  std::size_t count;
};

void narrow(const Convert& values);
void widen(const Convert& values);

/// Narrows the given entries, each with `components` doubles.
void narrow_entries(Wire wire, std::byte* to, const std::byte* from, std::span<const LocalIndex> entries,
                    std::size_t components);

}  // namespace nuice::mpi
