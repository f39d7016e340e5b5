// SPDX-License-Identifier: BSD-3-Clause
// Doubles on their way as something shorter. Rounded to the nearest, ties to even; what is too large becomes an infinity.
#pragma once

#include <cstddef>
#include <span>

#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Bytes of a field's entry in messages.
std::size_t wire_bytes(Wire wire, std::int64_t entry_bytes);

/// `count` doubles that lie next to each other; they need not be aligned.
struct Convert {
  Wire wire;
  std::byte* to;
  const std::byte* from;
  std::size_t count;
};

void narrow(const Convert& values);
void widen(const Convert& values);

/// Of the entries named, each with that many components.
void narrow_entries(Wire wire, std::byte* to, const std::byte* from, std::span<const LocalIndex> entries,
                    std::size_t components);

}  // namespace nuice::mpi
