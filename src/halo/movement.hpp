// SPDX-License-Identifier: BSD-3-Clause
// What happens to owned values before they go to the ranks that need them, or when contributions come back from there.
//
// Owned values lie anywhere, so a message of them is packed, field after field; ghosts of one owner lie next to each other in
// every field, so MPI takes them from there, or puts them there.
#pragma once

#include <span>
#include <vector>

#include "halo/pattern.hpp"
#include "halo/wire.hpp"
#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Entries of one field that are packed next to each other.
struct Pack {
  std::byte* to;
  const std::byte* from;
  std::span<const LocalIndex> entries;
  std::size_t entry_bytes;
  Wire wire = Wire::as_is;
};

/// Contributions of one rank to one field.
struct Combine {
  CombineEntries combine;
  std::byte* owned;
  const std::byte* incoming;
  std::span<const LocalIndex> entries;
  int components;
};

/// The pattern and the fields' memory must outlive it.
struct Movement {
  std::vector<std::byte> messages;  // to or from the ranks that need owned entries, back to back
  std::vector<Pack> packs;          // of a gather
  std::vector<Combine> combines;    // of a scatter; by ascending rank within a field
  // Of fields that travel shorter: their ghosts, as they travel, and what has arrived of contributions, as doubles.
  std::vector<std::vector<std::byte>> short_ghosts;  // by field; empty for one that travels as it is
  std::vector<std::byte> wide;
  std::vector<Convert> before;  // ghosts of a scatter, narrowed
  std::vector<Convert> after;   // what has arrived, widened

  void pack() const;
  void unpack() const;
};

/// Bytes of a field in the messages, for Plan::bind().
struct FieldBytes {
  std::vector<std::int64_t> with_needers;
  std::vector<std::int64_t> offsets;  // in Movement::messages
  std::vector<std::int64_t> with_owners;
};

/// Throw Error invalid_argument for no field at all, or one with too few values or components.
void check_fields(const Pattern& pattern, std::span<const GatherField> fields, Rank rank);
void check_fields(const Pattern& pattern, std::span<const ScatterField> fields, Rank rank);

/// Where ghosts of field f are sent from or received to: `ghosts`, or as they travel.
template <typename Byte>
Byte* travelling(Movement& movement, std::size_t f, Byte* ghosts) {
  return movement.short_ghosts[f].empty() ? ghosts : movement.short_ghosts[f].data();
}

/// Require checked fields. Append one FieldBytes for each.
Movement movement_of(const Pattern& pattern, std::span<const GatherField> fields,
                     std::vector<FieldBytes>& bytes);
Movement movement_of(const Pattern& pattern, std::span<const ScatterField> fields,
                     std::vector<FieldBytes>& bytes);

}  // namespace nuice::mpi
