// SPDX-License-Identifier: BSD-3-Clause
// Which rank owns a global index, for every kind of Ownership.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

/// A rank's entries by local index: `count` of them from `first` on, or those of the list if there is one.
struct OwnedIndices {
  GlobalIndex first = 0;
  std::uint64_t count = 0;
  std::span<const GlobalIndex> list = {};
};

class OwnerFinder {
 public:
  /// Collective. Throws Error, on all ranks, where the ranks' ownership does not fit together.
  OwnerFinder(const Communicator& comm, const Ownership& ownership);

  /// Of this rank. A list is one of the Ownership, or one that is made in the first call.
  OwnedIndices owned();
  /// Collective. The owner of each of these indices. Throws Error invalid_argument, on all ranks, naming rank and
  /// index, for one that no rank owns.
  std::vector<Rank> owners(std::span<const GlobalIndex> indices) const;

 private:
  void require_same_kind() const;
  void check_ranges() const;
  void check_owned() const;
  Rank owner(GlobalIndex index) const;

  const Communicator& comm_;
  const Ownership& ownership_;
  std::vector<GlobalIndex> listed_;  // of an array of owners
};

/// One of the pair is repeated; nullopt if all differ.
std::optional<GlobalIndex> repeated(std::vector<GlobalIndex> indices);

}  // namespace nuice::mpi
