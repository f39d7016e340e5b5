// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/table_of.hpp"

#include <algorithm>

namespace nuice::distributed {

std::vector<PhaseId> phases_of(std::span<const std::uint8_t> used) {
  std::vector<PhaseId> phases;
  PhaseId next = 0;
  for (const std::uint8_t is_used : used) phases.push_back(is_used != 0 ? next++ : next);
  return phases;
}

PhaseTable table_of(const Side& sends, const Side& receives, std::span<const PhaseId> phase_of,
                    PhaseId num_phases, Rank num_ranks) {
  PhaseTable table;
  table.rank = sends.self;
  table.num_ranks = num_ranks;
  table.num_phases = num_phases;
  std::vector<PhaseEntry> entries;
  for (std::size_t i = 0; i < sends.partners.size(); ++i) {
    table.destinations.push_back({sends.partners[i], sends.bytes[i]});
    entries.push_back({.phase = phase_of[sends.colours[i]],
                       .send_partner = sends.partners[i],
                       .send_bytes = sends.bytes[i]});
  }
  for (std::size_t i = 0; i < receives.partners.size(); ++i) {
    table.sources.push_back({receives.partners[i], receives.bytes[i]});
    entries.push_back({.phase = phase_of[receives.colours[i]],
                       .recv_partner = receives.partners[i],
                       .recv_bytes = receives.bytes[i]});
  }
  std::ranges::stable_sort(entries, {}, &PhaseEntry::phase);
  for (const PhaseEntry& entry : entries) {  // the two halves of a phase become one entry
    const bool joins = !table.entries.empty() && table.entries.back().phase == entry.phase &&
                       table.entries.back().recv_partner == no_rank && entry.send_partner == no_rank;
    if (!joins) {
      table.entries.push_back(entry);
      continue;
    }
    table.entries.back().recv_partner = entry.recv_partner;
    table.entries.back().recv_bytes = entry.recv_bytes;
  }
  return table;
}

}  // namespace nuice::distributed
