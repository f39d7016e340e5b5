// SPDX-License-Identifier: BSD-3-Clause
// Fields as messages: what is packed before they go, and unpacked or combined after they have come.
//
// A message holds field after field. The ghosts of one owner lie side by side, so with a single field a gather
// receives right into the ghosts and a scatter sends right from them; with several they are copied.
#pragma once

#include <span>
#include <vector>

#include "halo/pattern.hpp"
#include "nuice/core/serial_exchange.hpp"
#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Entries of one field that are packed side by side.
struct Pack {
  std::byte* to;
  const std::byte* from;
  std::span<const LocalIndex> entries;
  std::size_t entry_bytes;
};

/// Values that lie side by side on both sides.
struct Copy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
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
  std::vector<std::byte> send_memory;
  std::vector<std::byte> receive_memory;
  // Before the messages go:
  std::vector<Pack> packs;
  std::vector<Copy> copies_out;
  // After they have come:
  std::vector<Copy> copies_in;
  std::vector<Combine> combines;  // by ascending rank
  // For Plan::bind():
  std::vector<SendBuffer> send;
  std::vector<ReceiveBuffer> receive;

  void pack() const;
  void unpack() const;
};

/// Throw Error invalid_argument for no field at all, or one with too few values or components.
void check_fields(const Pattern& pattern, std::span<const GatherField> fields, Rank rank);
void check_fields(const Pattern& pattern, std::span<const ScatterField> fields, Rank rank);

/// Require checked fields.
Movement move_to_ghosts(const Pattern& pattern, std::span<const GatherField> fields);
Movement move_to_owners(const Pattern& pattern, std::span<const ScatterField> fields);

}  // namespace nuice::mpi
