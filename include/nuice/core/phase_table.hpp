// SPDX-License-Identifier: BSD-3-Clause
// The communication phase table (CPT; figure 8 of NICE): one rank's slice of a schedule, which is all that
// executors see.
//
// In the papers the table has one record per phase, with the fields s_partner, s_len, s_offset, r_partner,
// r_len and r_offset. Here a phase in which the rank is idle has no entry, and a phase in which the rank has
// several transfers (AC) has several entries.
//
// If messages are forwarded (REX), a transfer carries pieces of several messages, including messages that the
// rank only holds for other ranks. The entry of this transfer then names a range of `parts` (docs/adr/0011).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice {

/// A byte range of the message from src to dst that is a part of a transfer. On rank src it lies in the
/// buffer for dst, on rank dst in the buffer for src; the ranks that forward the part stage it.
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

/// One entry of the table. Offsets count from the start of the buffer for the partner. A transfer has parts
/// if it carries other data than the message between its two ranks. The parts are contiguous in the transfer;
/// the size of the transfer is the sum of the parts, and its offset is 0.
struct PhaseEntry {
  PhaseId phase = 0;
  Rank send_partner = no_rank;  ///< The rank to which data are sent; no_rank: nothing is sent.
  Bytes send_bytes = 0;
  Bytes send_offset = 0;
  Rank recv_partner = no_rank;  ///< The rank from which data are received; no_rank: nothing is received.
  Bytes recv_bytes = 0;
  Bytes recv_offset = 0;
  /// The parts that are sent; empty if the rank's own message to send_partner is sent.
  PartRange send_parts = {};
  /// The parts that are received; empty if recv_partner's own message to this rank is received.
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
  /// The ranks to which this rank sends, in ascending order, including itself if it has a message to itself.
  std::vector<Partner> destinations;
  /// The ranks that send to this rank, in ascending order (source vector in the papers).
  std::vector<Partner> sources;
  /// The transfers by ascending phase; the rank's message to itself has no entry.
  std::vector<PhaseEntry> entries;
  std::vector<Part> parts = {};  ///< The parts of all entries; empty if nothing is forwarded.

  /// Returns the parts of a range, which must lie inside `parts`.
  std::span<const Part> parts_in(PartRange range) const {
    return std::span(parts).subspan(range.begin, range.count);
  }
  friend bool operator==(const PhaseTable&, const PhaseTable&) = default;
};

/// Returns the slice of `rank`. O(transfers) time; memory grows with the data that the rank sends, receives
/// and forwards. Throws Error with code `not_applicable` if the schedule sends bytes back to their source, or
/// forwards bytes from their destination.
PhaseTable slice(const CommMatrix& matrix, const Schedule& schedule, Rank rank);

/// Returns the slices of all ranks, in one pass. O(transfers + num_ranks).
std::vector<PhaseTable> slice_all(const CommMatrix& matrix, const Schedule& schedule);

/// Returns the same rank's slice of the reverse exchange: every transfer goes from its receiver to its
/// sender, the last phase comes first, and sources and destinations are swapped. The reverse exchange
/// delivers the transposed matrix. O(entries + parts).
PhaseTable reversed(const PhaseTable& table);

/// Returns how many bytes the rank of this table stages for other ranks during an exchange. This is the sum
/// of all parts that the rank receives in order to forward them, because each part has its own memory. At
/// most max_bytes. O(parts).
Bytes staged_bytes(const PhaseTable& table);

}  // namespace nuice
