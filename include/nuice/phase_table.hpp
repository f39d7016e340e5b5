// SPDX-License-Identifier: BSD-3-Clause
// The communication phase table (CPT, NICE fig. 8): one rank's slice of a schedule. Executors see nothing
// else.
//
// The papers' fields are s_partner, s_len, s_offset, r_partner, r_len, r_offset, one record per phase. Here a
// phase in which the rank is idle has no entry, and a phase in which it has several transfers (AC) has
// several.
#pragma once

#include <vector>

#include "nuice/schedule.hpp"

namespace nuice {

/// One line of the CPT. `offset` counts from the start of the buffer for that partner.
struct PhaseEntry {
  PhaseId phase = 0;
  Rank send_partner = no_rank;  ///< no_rank: nothing is sent.
  Bytes send_bytes = 0;
  Bytes send_offset = 0;
  Rank recv_partner = no_rank;  ///< no_rank: nothing is received.
  Bytes recv_bytes = 0;
  Bytes recv_offset = 0;
  friend bool operator==(const PhaseEntry&, const PhaseEntry&) = default;
};

/// A rank to send to or to receive from, and how many bytes in all.
struct Partner {
  Rank rank;
  Bytes bytes;
  friend bool operator==(const Partner&, const Partner&) = default;
};

struct PhaseTable {
  Rank rank = 0;
  Rank num_ranks = 0;
  PhaseId num_phases = 0;  ///< Of the whole schedule: the same on every rank.
  std::vector<Partner>
      destinations;              ///< By ascending rank; the rank itself is among them if it sends to itself.
  std::vector<Partner> sources;  ///< Likewise: the papers' source vector.
  std::vector<PhaseEntry> entries;  ///< By ascending phase; a message to itself has no entry.
  friend bool operator==(const PhaseTable&, const PhaseTable&) = default;
};

/// The slice for `rank`. O(transfers) time; memory grows with the rank's own messages.
/// Throws Error not_applicable if the schedule forwards messages over third ranks.
PhaseTable slice(const CommMatrix& matrix, const Schedule& schedule, Rank rank);

/// The slices of all ranks in one pass. O(transfers + num_ranks).
std::vector<PhaseTable> slice_all(const CommMatrix& matrix, const Schedule& schedule);

}  // namespace nuice
