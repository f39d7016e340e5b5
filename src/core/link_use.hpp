// SPDX-License-Identifier: BSD-3-Clause
// The checker's part for link contention (000 s.2.1).
//
// All (link, transfer) of a phase, sorted, stand link by link; a link with more of them than slots has one too many.
// Memory grows with the routes of one phase, not with the network.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nuice/core/check.hpp"

namespace nuice::core {

class LinkUse {
 public:
  /// Requires enough ranks (require_ranks).
  explicit LinkUse(const Topology& topology) : topology_(topology) {}

  /// The first transfer of the phase whose path there is not, or that is one too many on a link of its way. Requires ends
  /// that are ranks.
  std::optional<Violation> find_contention(const Schedule& schedule, PhaseId phase);

 private:
  struct Crossing {
    LinkId link;
    std::size_t transfer;  // index in its phase
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

/// Throws Error mismatch if the topology has fewer ranks than that.
void require_ranks(const Topology& topology, Rank num_ranks);

}  // namespace nuice::core
