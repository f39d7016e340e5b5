// SPDX-License-Identifier: BSD-3-Clause
// The distributed check. It proves the same as check(), although each rank knows only its own table.
//
//   check_alone(table, one_port)              every rank checks its own transfers
//   sent = claims(table, Direction::send)     every rank sends its claims to each destination
//   compare_claims(src, me, sent, expected)   every destination compares them with its own table
//
// If no rank finds a fault, every byte of every message arrives exactly once, from its source, in the phase
// in which it is expected, and with one_port no phase has node contention. Cost: O(p log p) time and memory
// for the p pieces of a rank, a message to each destination, and one reduction that tells all ranks about
// faults. The code is independent of all schedulers.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice {

/// A piece of the message between two ranks, as the table of one of these ranks describes it.
struct Claim {
  PhaseId phase;
  Bytes offset;
  Bytes bytes;
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

/// Claims, grouped by partner. Partners without messages, and the rank itself, have no claims.
struct Claims {
  std::vector<std::size_t> begin;  ///< The index of each partner's first claim; the last entry is the end.
  std::vector<Claim> claims;       ///< All claims, ascending for each partner.

  std::span<const Claim> of(std::size_t partner) const {
    return std::span(claims).subspan(begin[partner], begin[partner + 1] - begin[partner]);
  }
};

/// Returns the claims of a table, in the order of table.destinations (Direction::send) or table.sources
/// (Direction::receive). Pieces for ranks that are not listed there are left out, because check_alone() finds
/// them.
Claims claims(const PhaseTable& table, Direction direction);

/// Returns the first fault that is visible in a single table: an unknown phase or partner, a piece outside
/// its message, a byte that is sent or received twice or never, or, with one_port, two sends or two receives
/// in a phase. A transfer with parts is a fault too, because only check() can check forwarded messages.
std::optional<Violation> check_alone(const PhaseTable& table, unsigned guarantees);

/// Returns the first difference between the claims of src and dst about the message from src to dst, or
/// nothing.
std::optional<Violation> compare_claims(Rank src, Rank dst, std::span<const Claim> sent,
                                        std::span<const Claim> expected);

}  // namespace nuice
