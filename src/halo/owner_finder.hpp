// SPDX-License-Identifier: BSD-3-Clause
// Who owns a global index, for every kind of Ownership.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

class OwnerFinder {
 public:
  /// Collective. Throws Error, on all ranks, where the ranks' ownership does not fit together.
  OwnerFinder(const Communicator& comm, const Ownership& ownership);

  /// Global indices of this rank's entries, by local index.
  std::vector<GlobalIndex> owned() const;
  /// Collective. The owner of each of these indices. Throws Error invalid_argument, on all ranks, naming rank and
  /// index, for one that nobody owns.
  std::vector<Rank> owners(std::span<const GlobalIndex> indices) const;

 private:
  void require_same_kind() const;
  void check_ranges() const;
  void check_owned() const;
  Rank owner(GlobalIndex index) const;

  const Communicator& comm_;
  const Ownership& ownership_;
};

/// One of the pair is repeated; nullopt if all differ.
std::optional<GlobalIndex> repeated(std::vector<GlobalIndex> indices);

}  // namespace nuice::mpi
