// SPDX-License-Identifier: BSD-3-Clause
// The communication phase table (CPT; figure 8 of NICE): one rank's slice of a schedule, which is all that
// executors see.
//
// The fields in the papers are s_partner, s_len, s_offset, r_partner, r_len, r_offset, with one record per
// phase. Here a phase in which the rank is idle has no entry, and a phase in which it has several transfers
// (AC) has several entries.
//
// If messages are forwarded (REX), a transfer carries pieces of several messages, including messages that the
// rank only holds for other ranks. Its entry then names a range of `parts` (docs/adr/0011).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice {

/// A byte range of the message from src to dst that is a part of a transfer. At its source it lies in the
/// buffer for dst, at its destination in the buffer for src; every rank between them stages it.
struct Part {
  Rank src;
  Rank dst;
  Bytes offset;
  Bytes bytes;
  friend bool operator==(const Part&, const Part&) = default;
};

/// The range parts[begin .. begin + count) of a table.
struct PartRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  friend bool operator==(const PartRange&, const PartRange&) = default;
};

/// One line of the table. Offsets count from the start of the buffer for the partner. A transfer has parts if
/// it carries other data than the message between its two ranks. The parts are contiguous in the transfer,
/// its size is their sum, and its offset is 0.
struct PhaseEntry {
  PhaseId phase = 0;
  Rank send_partner = no_rank;  ///< The rank to which data are sent; no_rank: nothing is sent.
  Bytes send_bytes = 0;
  Bytes send_offset = 0;
  Rank recv_partner = no_rank;  ///< The rank from which data are received; no_rank: nothing is received.
  Bytes recv_bytes = 0;
  Bytes recv_offset = 0;
  PartRange send_parts = {};  ///< The parts sent; empty if the message to send_partner itself is sent.
  /// The parts received; empty if the message from recv_partner itself is received.
  PartRange recv_parts = {};
  friend bool operator==(const PhaseEntry&, const PhaseEntry&) = default;
};

/// A rank to which a message is sent or from which it is received, and the size of the message.
struct Partner {
  Rank rank;
  Bytes bytes;
  friend bool operator==(const Partner&, const Partner&) = default;
};

struct PhaseTable {
  Rank rank = 0;
  Rank num_ranks = 0;
  PhaseId num_phases = 0;  ///< The number of phases of the whole schedule, equal on all ranks.
  /// The ranks to which this rank sends, ascending; the rank itself is among them if it sends to itself.
  std::vector<Partner> destinations;
  /// The ranks that send to this rank, ascending (source vector in the papers).
  std::vector<Partner> sources;
  std::vector<PhaseEntry> entries;  ///< The transfers by ascending phase; a message to itself has no entry.
  std::vector<Part> parts = {};     ///< The parts of all entries; empty if nothing is forwarded.

  /// Returns the parts of a range, which must lie inside `parts`.
  std::span<const Part> parts_in(PartRange range) const {
    return std::span(parts).subspan(range.begin, range.count);
  }
  friend bool operator==(const PhaseTable&, const PhaseTable&) = default;
};

/// Returns the slice of `rank`. O(transfers) time; memory grows with the data that the rank sends, receives
/// and forwards. Throws Error not_applicable if the schedule returns bytes to their source or forwards them
/// from their destination.
PhaseTable slice(const CommMatrix& matrix, const Schedule& schedule, Rank rank);

/// Returns the slices of all ranks, in one pass. O(transfers + num_ranks).
std::vector<PhaseTable> slice_all(const CommMatrix& matrix, const Schedule& schedule);

/// Returns the same rank's slice of the reverse exchange: every transfer goes from its receiver to its
/// sender, the last phase comes first, and sources and destinations are swapped. It delivers the transposed
/// matrix. O(entries + parts).
PhaseTable reversed(const PhaseTable& table);

/// Returns how many bytes the rank of this table stages for other ranks during an exchange: the sum of all
/// parts that it receives for them, because each part has its own memory. At most max_bytes. O(parts).
Bytes staged_bytes(const PhaseTable& table);

}  // namespace nuice
