// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/table_of.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace nuice::distributed {

std::vector<PhaseId> phases_of(std::span<const std::uint8_t> used) {
  std::vector<PhaseId> phases;
  PhaseId next = 0;
  for (const std::uint8_t is_used : used) phases.push_back(is_used != 0 ? next++ : next);
  return phases;
}

std::vector<PhaseEntry> entries_of(std::vector<Placed> sends, std::vector<Placed> receives) {
  std::ranges::stable_sort(sends, {}, &Placed::phase);
  std::ranges::stable_sort(receives, {}, &Placed::phase);
  std::map<Rank, Bytes> sent;
  std::map<Rank, Bytes> received;
  std::vector<PhaseEntry> entries;
  auto send = sends.begin();
  auto receive = receives.begin();
  while (send != sends.end() || receive != receives.end()) {
    const bool sends_next =
        send != sends.end() && (receive == receives.end() || send->phase <= receive->phase);
    const bool receives_next =
        receive != receives.end() && (send == sends.end() || receive->phase <= send->phase);
    PhaseEntry& entry = entries.emplace_back(PhaseEntry{.phase = sends_next ? send->phase : receive->phase});
    if (sends_next) {
      entry.send_partner = send->partner;
      entry.send_offset = std::exchange(sent[send->partner], sent[send->partner] + send->bytes);
      entry.send_bytes = (send++)->bytes;
    }
    if (receives_next) {
      entry.recv_partner = receive->partner;
      entry.recv_offset =
          std::exchange(received[receive->partner], received[receive->partner] + receive->bytes);
      entry.recv_bytes = (receive++)->bytes;
    }
  }
  return entries;
}

PhaseTable table_of(const Side& sends, const Side& receives, std::span<const PhaseId> phase_of,
                    PhaseId num_phases, Rank num_ranks) {
  PhaseTable table;
  table.rank = sends.self;
  table.num_ranks = num_ranks;
  table.num_phases = num_phases;
  const auto placed = [&](const Side& side, std::vector<Partner>& partners) {
    std::vector<Placed> messages;
    for (std::size_t i = 0; i < side.partners.size(); ++i) {
      partners.push_back({side.partners[i], side.bytes[i]});
      messages.push_back({phase_of[side.colours[i]], side.partners[i], side.bytes[i]});
    }
    return messages;
  };
  std::vector<Placed> out = placed(sends, table.destinations);
  table.entries = entries_of(std::move(out), placed(receives, table.sources));
  return table;
}

}  // namespace nuice::distributed
