// SPDX-License-Identifier: BSD-3-Clause
// What a halo knows after inspection, shared with the exchanges that are bound to it.
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
  EntryLists owners;                // the ghosts' local indices: num_owned, num_owned + 1, ...
  EntryLists needers;               // owned entries, in the order of the ghosts over there

  /// Of owned entries whose indices follow one upon the other: they need no places.
  std::optional<GlobalIndex> first_owned;
  /// Local index of a global one, sorted by global index; the other owned entries and the ghosts.
  struct Place {
    GlobalIndex index;
    LocalIndex local;
  };
  std::vector<Place> places;

  /// -1 for an index that is not here.
  LocalIndex find(GlobalIndex index) const;
};

/// Collective. Finds the owners of what is needed and tells them. `requests` is left as the plan by which the ghosts' indices
/// went to their owners, made for a scatter of entry_bytes per entry.
Pattern inspect(const Communicator& comm, const Ownership& ownership, std::span<const GlobalIndex> needed,
                Bytes entry_bytes, const PlanOptions& options, std::optional<Plan>& requests);

}  // namespace nuice::mpi
