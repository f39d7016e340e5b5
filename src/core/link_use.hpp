// SPDX-License-Identifier: BSD-3-Clause
// The part of the checker that finds link contention (000 s.2.1).
//
// LinkUse sorts all pairs (link, transfer) of a phase by link. A link that occurs in more pairs than it has
// slots has contention. Memory grows with the routes of one phase, not with the network.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nuice/core/check.hpp"

namespace nuice::core {

class LinkUse {
 public:
  /// Requires a topology with enough ranks (require_ranks()).
  explicit LinkUse(const Topology& topology) : topology_(topology) {}

  /// Finds the first transfer of the phase whose path does not exist, or which exceeds the slots of a link of
  /// its route. Requires that the transfers are between ranks of the topology.
  std::optional<Violation> find_contention(const Schedule& schedule, PhaseId phase);

 private:
  struct Crossing {
    LinkId link;
    std::size_t transfer;  // index in the phase
    friend auto operator<=>(const Crossing&, const Crossing&) = default;
  };

  std::optional<Violation> find_bad_path(const Schedule& schedule, PhaseId phase) const;
  void collect_crossings(const Schedule& schedule, PhaseId phase);
  Violation describe(const Schedule& schedule, PhaseId phase, const Crossing& excess,
                     const Crossing& other) const;

  const Topology& topology_;
  std::vector<LinkId> route_;
  std::vector<Crossing> crossings_;
};

/// Throws Error `mismatch` if the topology has fewer than `num_ranks` ranks.
void require_ranks(const Topology& topology, Rank num_ranks);

}  // namespace nuice::core
