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

/// Entries by partner: those of ranks[p] are entries[begin[p] .. begin[p + 1]). Ranks ascend.
struct EntryLists {
  std::vector<Rank> ranks;
  std::vector<std::size_t> begin{0};
  std::vector<LocalIndex> entries;

  std::size_t num_partners() const { return ranks.size(); }
  std::span<const LocalIndex> list(std::size_t partner) const {
    return {entries.data() + begin[partner], begin[partner + 1] - begin[partner]};
  }
};

struct Pattern {
  LocalIndex num_owned = 0;
  std::vector<GlobalIndex> ghosts;  // by owner, then by index
  EntryLists owners;                // the ghosts' local indices: num_owned, num_owned + 1, ...
  EntryLists needers;               // owned entries, in the order of the ghosts over there

  /// Local index of a global one, sorted by global index; owned entries and ghosts.
  struct Place {
    GlobalIndex index;
    LocalIndex local;
  };
  std::vector<Place> places;

  /// -1 for an index that is not here.
  LocalIndex find(GlobalIndex index) const;
};

/// Collective. Finds the owners of what is needed and tells them. `requests` is left as the plan by which the
/// ghosts' indices went to their owners: that of a scatter of 8 bytes per entry.
Pattern inspect(const Communicator& comm, const Ownership& ownership, std::span<const GlobalIndex> needed,
                const PlanOptions& options, std::optional<Plan>& requests);

}  // namespace nuice::mpi
