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

/// A rank's entries by local index: `count` of them from `first` on, or the entries of `list` if it is not
/// empty.
struct OwnedIndices {
  GlobalIndex first = 0;
  std::uint64_t count = 0;
  std::span<const GlobalIndex> list = {};
};

class OwnerFinder {
 public:
  /// Collective. Throws Error on all ranks if the ranks' ownership does not fit together.
  OwnerFinder(const Communicator& comm, const Ownership& ownership);

  /// Returns this rank's entries. A list refers to the Ownership, or to memory filled in the first call.
  OwnedIndices owned();
  /// Collective. Returns the owner of each of these indices. Throws Error invalid_argument on all ranks,
  /// naming rank and index, if no rank owns an index.
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

/// Returns an index that occurs more than once; nullopt if all differ.
std::optional<GlobalIndex> repeated(std::vector<GlobalIndex> indices);

}  // namespace nuice::mpi
