// SPDX-License-Identifier: BSD-3-Clause
// The result of inspection, shared with the exchanges that are bound to the halo.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "halo/lists.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/halo.hpp"

namespace nuice::mpi {

using EntryLists = ListsOf<LocalIndex>;  // entries by partner

struct Pattern {
  LocalIndex num_owned = 0;
  std::vector<GlobalIndex> ghosts;  // by owner, then by index
  EntryLists owners;                // local indices of the ghosts: num_owned, num_owned + 1, ...
  EntryLists needers;               // owned entries, in the order of the ghosts on the needing rank

  /// Set if the owned global indices are consecutive; they then need no `places`.
  std::optional<GlobalIndex> first_owned;
  /// The local index of a global index. `places` is sorted by global index. It contains the ghosts, and owned
  /// entries that are not in first_owned's range.
  struct Place {
    GlobalIndex index;
    LocalIndex local;
  };
  std::vector<Place> places;

  /// Returns -1 for an index that this rank does not have.
  LocalIndex find(GlobalIndex index) const;
};

/// Collective. Finds the owners of the needed indices, and sends them requests. `requests` becomes the plan
/// that carried the requests. It is made for a scatter of entry_bytes per entry.
Pattern inspect(const Communicator& comm, const Ownership& ownership, std::span<const GlobalIndex> needed,
                Bytes entry_bytes, const PlanOptions& options, std::optional<Plan>& requests);

}  // namespace nuice::mpi
