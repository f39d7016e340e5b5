// SPDX-License-Identifier: BSD-3-Clause
// Makes one rank's table from phases, or colours.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/phase_table.hpp"
#include "schedulers/distributed/side.hpp"

namespace nuice::distributed {

/// Returns the phase that each colour becomes. Phases are in the order of colours; unused colours get no
/// phase. used: for each colour, whether any rank uses it.
std::vector<PhaseId> phases_of(std::span<const std::uint8_t> used);

/// A message, or a piece of one, that a rank sends or receives.
struct Placed {
  PhaseId phase;
  Rank partner;
  Bytes bytes;
};

/// Returns entries like those of slice(). The sends and receives of a phase keep the order of the arguments,
/// and the first send shares an entry with the first receive. The first phase that has a piece of a message
/// has the message's first bytes. O(n log n).
std::vector<PhaseEntry> entries_of(std::vector<Placed> sends, std::vector<Placed> receives);

/// Requires that all messages have colours. O(degree log degree).
PhaseTable table_of(const Side& sends, const Side& receives, std::span<const PhaseId> phase_of,
                    PhaseId num_phases, Rank num_ranks);

}  // namespace nuice::distributed
