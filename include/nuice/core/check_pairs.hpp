// SPDX-License-Identifier: BSD-3-Clause
// The distributed check: what check() proves of a schedule, proved by ranks that each know their own table only.
//
//   check_alone(table, one_port)                         every rank, of what it sends and receives
//   sent = claims(table, Direction::send)                tells every destination what it will send it, and when
//   compare_claims(src, me, sent, expected)              every destination, of what it hears and what its own table says
//
// If no rank finds anything, every byte of every message arrives exactly once, from its source, in the phase in which it is
// expected, and with one_port no phase has node contention. Cost: O(own pieces log) time and memory, a message to each
// destination, and one reduction that tells all what one has found. It shares no code with any scheduler.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice {

/// A piece of the message between two ranks, as one of them has it in its table.
struct Claim {
  PhaseId phase;
  Bytes offset;
  Bytes bytes;
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

/// By partner; those with which nothing is exchanged, and the rank itself, have none.
struct Claims {
  std::vector<std::size_t> begin;  ///< One more than partners: of each partner's claims.
  std::vector<Claim> claims;       ///< Ascending for each partner.

  std::span<const Claim> of(std::size_t partner) const {
    return std::span(claims).subspan(begin[partner], begin[partner + 1] - begin[partner]);
  }
};

/// In the order of table.destinations or of table.sources. Pieces for ranks that are not there are left out: check_alone()
/// finds them.
Claims claims(const PhaseTable& table, Direction direction);

/// The first thing that is wrong with a table whatever the others' say: a phase or a partner that is not there, a piece outside its
/// message, a byte sent or received twice or never, with one_port two sends or two receives in a phase; and a transfer with
/// parts, since what is forwarded needs check().
std::optional<Violation> check_alone(const PhaseTable& table, unsigned guarantees);

/// Of the message from src to dst: whether the two tables say the same.
std::optional<Violation> compare_claims(Rank src, Rank dst, std::span<const Claim> sent,
                                        std::span<const Claim> expected);

}  // namespace nuice
