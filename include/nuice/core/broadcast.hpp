// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: one message that every rank of a group needs (001 s.3.6).
//
//   step = copies that are made at the same time
//   copy = src, which has the message and keeps it -> dst
//
// It is not a Schedule: in a Schedule a byte is at one rank at a time, and sending moves it. The checker of
// personalised messages relies on this (docs/adr/0008).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice {

/// The whole message goes from src, which keeps it, to dst.
struct Copy {
  Rank src;
  Rank dst;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// steps[s] holds the copies that are made at the same time in step s.
struct BroadcastSchedule {
  Rank num_ranks = 0;
  Rank root = no_rank;
  std::vector<std::vector<Copy>> steps = {};
  friend bool operator==(const BroadcastSchedule&, const BroadcastSchedule&) = default;
};

/// One sentence on the first fault, or nothing if the broadcast is right: every rank of the group gets the
/// message exactly once, no other rank does, each copy comes from a rank that had the message before the
/// step, no step is empty, and in a step no rank sends twice or receives twice. Shares no code with the
/// algorithms. O(copies +
/// num_ranks).
std::optional<std::string> check_broadcast(const BroadcastSchedule& schedule, std::span<const Rank> group);

/// A copy as one of its ends sees it.
struct BroadcastStep {
  std::uint32_t step;
  Rank partner;
  friend bool operator==(const BroadcastStep&, const BroadcastStep&) = default;
};

/// One rank's slice of a broadcast. Executors see nothing else.
struct BroadcastTable {
  Rank rank = 0;
  Rank num_ranks = 0;
  Rank root = no_rank;
  std::uint32_t num_steps = 0;                ///< Number of steps of the whole broadcast, equal on all ranks.
  std::optional<BroadcastStep> receive = {};  ///< Nothing for the root and for ranks that take no part.
  std::vector<BroadcastStep> sends = {};      ///< By ascending step.
  friend bool operator==(const BroadcastTable&, const BroadcastTable&) = default;

  bool takes_part() const { return receive || !sends.empty(); }
};

/// The slice for `rank`. O(copies). Requires a schedule that check_broadcast() finds right.
BroadcastTable slice(const BroadcastSchedule& schedule, Rank rank);

}  // namespace nuice
