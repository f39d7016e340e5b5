// SPDX-License-Identifier: BSD-3-Clause
// Says which rank owns which entry of a distributed array, for halos (halo.hpp).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "nuice/core/types.hpp"
#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// The owners of all global indices. All ranks must use the same kind of ownership. The local index of an
/// owned entry is its position among this rank's owned entries.
class Ownership {
 public:
  /// Returns an ownership in which rank r owns the global indices begins[r] .. begins[r + 1] - 1. begins has
  /// num_ranks + 1 numbers, equal on all ranks. A look-up takes O(log ranks).
  static Ownership ranges(std::vector<GlobalIndex> begins);
  /// Returns an ownership in which global index g belongs to rank owners[g], such as a mesh partition. owners
  /// must be equal on all ranks. This rank's entries are sorted by global index. A look-up takes O(1); every
  /// rank needs memory for all indices.
  static Ownership array(std::vector<Rank> owners);
  /// Returns an ownership in which this rank's entry i has the global index owned[i], and rank owner(g) owns
  /// g. The function must give the same result on all ranks.
  static Ownership function(std::vector<GlobalIndex> owned, std::function<Rank(GlobalIndex)> owner);
  /// Returns an ownership in which this rank's entry i has the global index owned[i]; no rank needs to know
  /// the owners of other indices. A directory, distributed over the ranks by hashing, finds the owners. This
  /// takes a few exchanges of 16 bytes per owned and per needed index.
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
