// SPDX-License-Identifier: BSD-3-Clause
// Packs owned values before they are sent to the ranks that need them, and combines contributions that come
// back.
//
// Owned values may lie anywhere, so they are packed into messages, field after field. In every field the
// ghosts of one owner are contiguous, so MPI sends and receives them in place.
#pragma once

#include <span>
#include <vector>

#include "halo/pattern.hpp"
#include "halo/wire.hpp"
#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Entries of one field that are packed contiguously.
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

/// The copies of one exchange. The pattern and the fields' memory must live as long as this object.
struct Movement {
  std::vector<std::byte> messages;  // to or from the ranks that need owned entries, back to back
  std::vector<Pack> packs;          // of a gather
  std::vector<Combine> combines;    // of a scatter; by ascending rank within a field
  // For fields that are sent in fewer bytes: their ghosts in the short form, and their received contributions
  // as doubles.
  std::vector<std::vector<std::byte>> short_ghosts;  // by field; empty if the field is sent unchanged
  std::vector<std::byte> wide;
  std::vector<Convert> before;  // narrow the ghosts of a scatter before they are sent
  std::vector<Convert> after;   // widen what has been received

  void pack() const;
  void unpack() const;
};

/// The bytes of a field in the messages, for Plan::bind().
struct FieldBytes {
  std::vector<std::int64_t> with_needers;
  std::vector<std::int64_t> offsets;  // in Movement::messages
  std::vector<std::int64_t> with_owners;
};

/// Throws Error `invalid_argument` if there is no field, or a field has too few values or components.
void check_fields(const Pattern& pattern, std::span<const GatherField> fields, Rank rank);
void check_fields(const Pattern& pattern, std::span<const ScatterField> fields, Rank rank);

/// Returns the memory from which the ghosts of field f are sent, or into which they are received: `ghosts`,
/// or memory for their short form.
template <typename Byte>
Byte* travelling(Movement& movement, std::size_t f, Byte* ghosts) {
  return movement.short_ghosts[f].empty() ? ghosts : movement.short_ghosts[f].data();
}

/// Requires checked fields. Appends one FieldBytes for each field.
Movement movement_of(const Pattern& pattern, std::span<const GatherField> fields,
                     std::vector<FieldBytes>& bytes);
Movement movement_of(const Pattern& pattern, std::span<const ScatterField> fields,
                     std::vector<FieldBytes>& bytes);

}  // namespace nuice::mpi
