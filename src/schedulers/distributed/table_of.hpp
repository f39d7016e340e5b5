// SPDX-License-Identifier: BSD-3-Clause
// From colours to one rank's table.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/phase_table.hpp"
#include "schedulers/distributed/side.hpp"

namespace nuice::distributed {

/// By colour the phase that it becomes: as colours go, those that nobody uses left out. used: by colour, of all ranks.
std::vector<PhaseId> phases_of(std::span<const std::uint8_t> used);

/// Of whole messages. Requires that all have colours. O(degree log degree).
PhaseTable table_of(const Side& sends, const Side& receives, std::span<const PhaseId> phase_of,
                    PhaseId num_phases, Rank num_ranks);

}  // namespace nuice::distributed
