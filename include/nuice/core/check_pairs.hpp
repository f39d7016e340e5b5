// SPDX-License-Identifier: BSD-3-Clause
// The distributed check: it proves the same as check(), by ranks that each know their own table only.
//
//   check_alone(table, one_port)                         every rank checks what it sends and receives
//   sent = claims(table, Direction::send)                goes to every destination: what it will get, and
//   when
//   compare_claims(src, me, sent, expected)              every destination compares it with its own table
//
// If no rank finds a fault, every byte of every message arrives exactly once, from its source, in the phase
// in which it is expected, and with one_port no phase has node contention. Cost: O(p log p) time and memory
// for p own pieces, a message to each destination, and one reduction that tells all ranks of a fault. It
// shares no code with any scheduler.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice {

/// A piece of the message between two ranks, as the table of one of them has it.
struct Claim {
  PhaseId phase;
  Bytes offset;
  Bytes bytes;
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

/// Claims by partner; partners without messages, and the rank itself, have none.
struct Claims {
  std::vector<std::size_t> begin;  ///< Index of each partner's first claim, and one more at the end.
  std::vector<Claim> claims;       ///< Ascending for each partner.

  std::span<const Claim> of(std::size_t partner) const {
    return std::span(claims).subspan(begin[partner], begin[partner + 1] - begin[partner]);
  }
};

/// In the order of table.destinations or of table.sources. Pieces for ranks that are not listed there are
/// left out: check_alone() finds them.
Claims claims(const PhaseTable& table, Direction direction);

/// The first fault of a table that needs no other table: an unknown phase or partner, a piece outside its
/// message, a byte sent or received twice or never, with one_port two sends or two receives in a phase, and a
/// transfer with parts, because forwarded messages need check().
std::optional<Violation> check_alone(const PhaseTable& table, unsigned guarantees);

/// The first difference between the tables of src and dst in the message from src to dst, or nothing.
std::optional<Violation> compare_claims(Rank src, Rank dst, std::span<const Claim> sent,
                                        std::span<const Claim> expected);

}  // namespace nuice
