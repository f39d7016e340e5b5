// SPDX-License-Identifier: BSD-3-Clause
// Which rank owns which entry of a distributed array, for halos (halo.hpp).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "nuice/core/types.hpp"
#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Which rank owns which global index. All ranks use the same kind. An owned entry's local index is its place
/// among this rank's owned entries.
class Ownership {
 public:
  /// Rank r owns begins[r] .. begins[r + 1] - 1. begins has num_ranks + 1 numbers, equal on all ranks. A
  /// look-up takes O(log ranks).
  static Ownership ranges(std::vector<GlobalIndex> begins);
  /// Global index g belongs to owners[g], which is equal on all ranks (a mesh partition). This rank's entries
  /// have ascending global indices. A look-up takes O(1); every rank needs memory for all indices.
  static Ownership array(std::vector<Rank> owners);
  /// This rank's entry i has the global index owned[i]; owner(g) is the rank that owns g, by the same rule on
  /// all ranks.
  static Ownership function(std::vector<GlobalIndex> owned, std::function<Rank(GlobalIndex)> owner);
  /// This rank's entry i has the global index owned[i]; no rank needs to know the other owners. A directory,
  /// distributed over the ranks by hashing, finds the owners: a few exchanges of 16 bytes per owned and per
  /// needed index.
  static Ownership list(std::vector<GlobalIndex> owned);

 private:
  friend class OwnerFinder;
  enum class Kind : int { ranges, array, function, list };
  explicit Ownership(Kind kind, std::vector<GlobalIndex> owned = {})
      : kind_(kind), owned_(std::move(owned)) {}
  Kind kind_;
  std::vector<GlobalIndex> owned_;
  std::vector<GlobalIndex> begins_;
  std::vector<Rank> owners_;
  std::function<Rank(GlobalIndex)> owner_;
};

}  // namespace nuice::mpi
