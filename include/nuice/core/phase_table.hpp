// SPDX-License-Identifier: BSD-3-Clause
// The communication phase table (CPT, NICE fig. 8): one rank's slice of a schedule. Executors see only this
// table.
//
// The papers' fields are s_partner, s_len, s_offset, r_partner, r_len, r_offset, one record per phase. Here a
// phase in which the rank is idle has no entry, and a phase in which it has several transfers (AC) has
// several.
//
// If messages are forwarded (REX), a transfer carries pieces of several messages, also of messages that the
// rank only holds for others. Its entry then names a range of `parts` (docs/adr/0011).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice {

/// A byte range of the message from src to dst, as one of the parts of a transfer. At its source it lies in
/// the buffer for dst, at its destination in the buffer for src; every rank between the two stages it.
struct Part {
  Rank src;
  Rank dst;
  Bytes offset;
  Bytes bytes;
  friend bool operator==(const Part&, const Part&) = default;
};

/// parts[begin .. begin + count) of a table.
struct PartRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  friend bool operator==(const PartRange&, const PartRange&) = default;
};

/// One line of the CPT. Offsets count from the start of the buffer for the partner. A transfer that carries
/// other data than the message between its two ranks has parts: they are contiguous in it, its bytes are
/// their sum, and its offset is 0.
struct PhaseEntry {
  PhaseId phase = 0;
  Rank send_partner = no_rank;  ///< no_rank: nothing is sent.
  Bytes send_bytes = 0;
  Bytes send_offset = 0;
  Rank recv_partner = no_rank;  ///< no_rank: nothing is received.
  Bytes recv_bytes = 0;
  Bytes recv_offset = 0;
  PartRange send_parts = {};  ///< Empty if the message to send_partner itself is sent.
  PartRange recv_parts = {};  ///< Likewise.
  friend bool operator==(const PhaseEntry&, const PhaseEntry&) = default;
};

/// A rank to send to or to receive from, and the bytes of the message.
struct Partner {
  Rank rank;
  Bytes bytes;
  friend bool operator==(const Partner&, const Partner&) = default;
};

struct PhaseTable {
  Rank rank = 0;
  Rank num_ranks = 0;
  PhaseId num_phases = 0;  ///< Number of phases of the whole schedule, equal on all ranks.
  std::vector<Partner>
      destinations;              ///< By ascending rank; the rank itself is among them if it sends to itself.
  std::vector<Partner> sources;  ///< By ascending rank; the papers' source vector.
  std::vector<PhaseEntry> entries;  ///< By ascending phase; a message to itself has no entry.
  std::vector<Part> parts = {};     ///< Parts of all entries; empty if nothing is forwarded.

  /// Requires a range inside `parts`.
  std::span<const Part> parts_in(PartRange range) const {
    return std::span(parts).subspan(range.begin, range.count);
  }
  friend bool operator==(const PhaseTable&, const PhaseTable&) = default;
};

/// The slice for `rank`. O(transfers) time; memory grows with what the rank sends, receives and forwards.
/// Throws Error not_applicable if the schedule returns bytes to their source or forwards them from their
/// destination.
PhaseTable slice(const CommMatrix& matrix, const Schedule& schedule, Rank rank);

/// The slices of all ranks in one pass. O(transfers + num_ranks).
std::vector<PhaseTable> slice_all(const CommMatrix& matrix, const Schedule& schedule);

/// The same rank's slice of the reverse exchange: every transfer from its receiver to its sender, the last
/// phase first. It delivers the transposed matrix; sources and destinations are exchanged. O(entries +
/// parts).
PhaseTable reversed(const PhaseTable& table);

/// Bytes that the rank of this table holds for others during an exchange: the sum of all parts that it
/// receives for others, because each part has its own place; at most max_bytes. O(parts).
Bytes staged_bytes(const PhaseTable& table);

}  // namespace nuice
