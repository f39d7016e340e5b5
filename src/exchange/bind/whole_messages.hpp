// SPDX-License-Identifier: BSD-3-Clause
// Messages of a bound plan that are taken from the executor. Each message passes through memory in one piece,
// and the executor gets the table without these messages.
#pragma once

#include <functional>
#include <map>

#include "exchange/bind/table_requests.hpp"

namespace nuice::mpi {

/// Some messages of an exchange, with their packed sizes.
struct WholeMessages {
  TableElements elements;
  std::map<Rank, Bytes> sends;  ///< Bytes by destination.
  std::map<Rank, Bytes> receives;
  bool are_all = true;  ///< Whether these are all messages between this rank and others.

  /// Not collective. Returns the messages of the table for which takes(partner, bytes) is true. It must be
  /// the same at both ends of a message. Requires a table without forwarding.
  static WholeMessages of(const PhaseTable& table, const Layout& layout,
                          const std::function<bool(Rank, Bytes)>& takes);
  /// Returns the table without these messages.
  PhaseTable rest_of(const PhaseTable& table) const;
};

/// A message or a part of it, and its place in the shared memory of a host.
struct SharedCopy {
  Segment segment;
  Bytes begin;
  Bytes bytes;
  bool is_plain;

  void to_memory(std::byte* memory, MPI_Comm comm) const;
  void from_memory(const std::byte* memory, MPI_Comm comm) const;
};

/// Appends the copies of a partner's message whose first byte lies at `begin`. elements: sorted by partner.
void add_copies(const std::vector<TableElements::Elements>& elements, Rank partner, Bytes begin,
                std::vector<SharedCopy>& copies);
/// Sorts elements for add_copies(). The parts of a message keep their order.
void sort_by_partner(std::vector<TableElements::Elements>& elements);

}  // namespace nuice::mpi
