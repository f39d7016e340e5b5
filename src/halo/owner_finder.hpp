// SPDX-License-Identifier: BSD-3-Clause
// Finds which rank owns a global index, for every kind of Ownership.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

/// A rank's entries, by local index. If `list` is not empty, they are its entries, otherwise the `count`
/// entries from `first` on.
struct OwnedIndices {
  GlobalIndex first = 0;
  std::uint64_t count = 0;
  std::span<const GlobalIndex> list = {};
};

class OwnerFinder {
 public:
  /// Collective. Throws Error on all ranks if the ownerships of the ranks do not fit together.
  OwnerFinder(const Communicator& comm, const Ownership& ownership);

  /// Returns this rank's entries. A returned list refers to memory of the Ownership, or to memory that the
  /// first call fills.
  OwnedIndices owned();
  /// Collective. Returns the owner of each of these indices. If no rank owns an index, throws Error
  /// `invalid_argument` on all ranks, with the asking rank and the index.
  std::vector<Rank> owners(std::span<const GlobalIndex> indices) const;

 private:
  void require_same_kind() const;
  void check_ranges() const;
  void check_owned() const;
  Rank owner(GlobalIndex index) const;

  const Communicator& comm_;
  const Ownership& ownership_;
  std::vector<GlobalIndex> listed_;  // this rank's entries, for an array of owners
};

/// Returns an index that occurs more than once; nullopt if all indices differ.
std::optional<GlobalIndex> repeated(std::vector<GlobalIndex> indices);

}  // namespace nuice::mpi
