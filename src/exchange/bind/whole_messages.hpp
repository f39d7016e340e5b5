// SPDX-License-Identifier: BSD-3-Clause
// Messages of a bound plan that leave the executor: they travel through memory, as a whole, and the table goes on without them.
#pragma once

#include <functional>
#include <map>

#include "exchange/bind/table_requests.hpp"

namespace nuice::mpi {

/// Some of an exchange's messages, as bytes travel.
struct WholeMessages {
  TableElements elements;
  std::map<Rank, Bytes> sends;  ///< By destination.
  std::map<Rank, Bytes> receives;
  bool are_all = true;  ///< Of this rank's messages to others.

  /// Those of this table that `takes(partner, bytes)`. Not collective; both ends of a message must decide alike.
  /// Requires a table that forwards nothing.
  static WholeMessages of(const PhaseTable& table, const Layout& layout,
                          const std::function<bool(Rank, Bytes)>& takes);
  /// What is left of the table.
  PhaseTable rest_of(const PhaseTable& table) const;
};

/// A message, or a part of it, and where it lies in memory that a host shares.
struct SharedCopy {
  Segment segment;
  Bytes begin;
  Bytes bytes;
  bool is_plain;

  void to_memory(std::byte* memory, MPI_Comm comm) const;
  void from_memory(const std::byte* memory, MPI_Comm comm) const;
};

/// Appends the copies of a partner's message, whose first byte lies at `begin`. elements: by partner.
void add_copies(const std::vector<TableElements::Elements>& elements, Rank partner, Bytes begin,
                std::vector<SharedCopy>& copies);
/// The order that add_copies() needs: parts of a message stay in theirs.
void sort_by_partner(std::vector<TableElements::Elements>& elements);

}  // namespace nuice::mpi
