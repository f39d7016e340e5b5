// SPDX-License-Identifier: BSD-3-Clause
// From phases, or colours, to one rank's table.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/phase_table.hpp"
#include "schedulers/distributed/side.hpp"

namespace nuice::distributed {

/// By colour the phase that it becomes: as colours go, those that no rank uses left out. used: by colour, of all ranks.
std::vector<PhaseId> phases_of(std::span<const std::uint8_t> used);

/// A message that a rank sends, or receives, as a whole.
struct Placed {
  PhaseId phase;
  Rank partner;
  Bytes bytes;
};

/// As slice() has them: those of a phase in the order in which they stand here, the first send next to the first receive.
/// O(n log n).
std::vector<PhaseEntry> entries_of(std::vector<Placed> sends, std::vector<Placed> receives);

/// Requires that all messages have colours. O(degree log degree).
PhaseTable table_of(const Side& sends, const Side& receives, std::span<const PhaseId> phase_of,
                    PhaseId num_phases, Rank num_ranks);

}  // namespace nuice::distributed
