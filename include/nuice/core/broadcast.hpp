// SPDX-License-Identifier: BSD-3-Clause
// A broadcast: every rank of a group needs the same message (001 s.3.6).
//
//   step = copies that are made at the same time
//   copy = src, which has the message and keeps it -> dst
//
// A broadcast is not a Schedule: in a Schedule each byte is at only one rank at a time, and a transfer moves
// it to another rank. The checker of schedules relies on this rule (docs/adr/0008).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice {

/// A copy of the whole message from src, which keeps the message, to dst.
struct Copy {
  Rank src;
  Rank dst;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// A broadcast. steps[s] holds the copies that are made at the same time in step s.
struct BroadcastSchedule {
  Rank num_ranks = 0;
  Rank root = no_rank;
  std::vector<std::vector<Copy>> steps = {};
  friend bool operator==(const BroadcastSchedule&, const BroadcastSchedule&) = default;
};

/// Returns one sentence on the first fault, or nothing if the broadcast is correct. A broadcast is correct if
/// every rank of the group gets the message exactly once, no other rank gets the message, each copy comes
/// from a rank that had the message before the step, no step is empty, and no rank sends twice or receives
/// twice in a step. Shares no code with the algorithms. O(copies + num_ranks).
std::optional<std::string> check_broadcast(const BroadcastSchedule& schedule, std::span<const Rank> group);

/// A copy as one of its two ranks sees it.
struct BroadcastStep {
  std::uint32_t step;
  Rank partner;
  friend bool operator==(const BroadcastStep&, const BroadcastStep&) = default;
};

/// One rank's slice of a broadcast, which is all that executors see.
struct BroadcastTable {
  Rank rank = 0;
  Rank num_ranks = 0;
  Rank root = no_rank;
  std::uint32_t num_steps = 0;  ///< The number of steps of the whole broadcast, equal on all ranks.
  /// The step in which this rank gets the message; empty for the root and for ranks that take no part.
  std::optional<BroadcastStep> receive = {};
  std::vector<BroadcastStep> sends = {};  ///< The copies that this rank sends, by ascending step.
  friend bool operator==(const BroadcastTable&, const BroadcastTable&) = default;

  bool takes_part() const { return receive || !sends.empty(); }
};

/// Returns the slice of `rank`. O(copies). Requires that check_broadcast() finds no fault in the schedule.
BroadcastTable slice(const BroadcastSchedule& schedule, Rank rank);

}  // namespace nuice
