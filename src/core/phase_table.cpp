// SPDX-License-Identifier: BSD-3-Clause
// Slices a schedule: the first send of a rank in a phase shares an entry with its first receive, and so on.
#include "nuice/core/phase_table.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <string>
#include <utility>

#include "nuice/core/error.hpp"

namespace nuice {
namespace {

/// Returns whether the transfer carries only the message between its two ranks.
bool is_straight(const CommMatrix& matrix, const Transfer& transfer) {
  return std::ranges::all_of(transfer.pieces, [&](const Piece& piece) {
    return matrix.src(piece.message) == transfer.src && matrix.dst(piece.message) == transfer.dst;
  });
}

/// Throws if a transfer sends bytes back to their source or away from their destination. The table of a rank
/// has only one place for each byte: bytes leave their source's buffer once, and stay in their destination's
/// buffer.
void check_way(const CommMatrix& matrix, PhaseId phase, const Transfer& transfer) {
  for (const Piece& piece : transfer.pieces) {
    const Message message = matrix.message(piece.message);
    if (transfer.dst != message.src && transfer.src != message.dst) continue;
    throw Error(ErrorCode::not_applicable,
                "phase " + std::to_string(phase) + ", rank " + std::to_string(transfer.src) + " -> rank " +
                    std::to_string(transfer.dst) + ": the message of rank " + std::to_string(message.src) +
                    " -> rank " + std::to_string(message.dst) +
                    (transfer.dst == message.src ? " is sent back to its source"
                                                 : " is forwarded from its destination") +
                    "; a phase table has no place for that");
  }
}

/// A builder of one rank's table. The sends and receives of a phase share entries as far as possible.
class TableBuilder {
 public:
  TableBuilder(const CommMatrix& matrix, const Schedule& schedule, Rank rank)
      : table_(empty_table(matrix, schedule, rank)) {}

  void begin_phase(PhaseId phase) {
    phase_ = phase;
    next_send_ = next_recv_ = table_.entries.size();
  }
  /// Adds one send per piece, or one send with parts if the transfer is not straight.
  void add_send(const CommMatrix& matrix, const Transfer& transfer, bool straight) {
    if (!straight) {
      PhaseEntry& entry = entry_at(next_send_++);
      entry.send_partner = transfer.dst;
      entry.send_parts = add_parts(matrix, transfer);
      entry.send_bytes = transfer.bytes();
      return;
    }
    for (const Piece& piece : transfer.pieces) {
      PhaseEntry& entry = entry_at(next_send_++);
      entry.send_partner = transfer.dst;
      entry.send_bytes = piece.bytes;
      entry.send_offset = piece.offset;
    }
  }
  void add_recv(const CommMatrix& matrix, const Transfer& transfer, bool straight) {
    if (!straight) {
      PhaseEntry& entry = entry_at(next_recv_++);
      entry.recv_partner = transfer.src;
      entry.recv_parts = add_parts(matrix, transfer);
      entry.recv_bytes = transfer.bytes();
      return;
    }
    for (const Piece& piece : transfer.pieces) {
      PhaseEntry& entry = entry_at(next_recv_++);
      entry.recv_partner = transfer.src;
      entry.recv_bytes = piece.bytes;
      entry.recv_offset = piece.offset;
    }
  }
  PhaseTable take() { return std::move(table_); }

 private:
  static PhaseTable empty_table(const CommMatrix& matrix, const Schedule& schedule, Rank rank) {
    PhaseTable table;
    table.rank = rank;
    table.num_ranks = matrix.num_ranks();
    table.num_phases = schedule.num_phases();
    for (const MessageId id : matrix.sent_by(rank))
      table.destinations.push_back({matrix.dst(id), matrix.bytes(id)});
    for (const MessageId id : matrix.received_by(rank))
      table.sources.push_back({matrix.src(id), matrix.bytes(id)});
    if (matrix.self_bytes(rank) > 0) {
      insert_by_rank(table.destinations, {rank, matrix.self_bytes(rank)});
      insert_by_rank(table.sources, {rank, matrix.self_bytes(rank)});
    }
    return table;
  }
  static void insert_by_rank(std::vector<Partner>& partners, Partner self) {
    auto at = partners.begin();
    while (at != partners.end() && at->rank < self.rank) ++at;
    partners.insert(at, self);
  }
  PartRange add_parts(const CommMatrix& matrix, const Transfer& transfer) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    if (transfer.pieces.size() > most - table_.parts.size())
      throw Error(ErrorCode::limit, "rank " + std::to_string(table_.rank) + " forwards more than " +
                                        std::to_string(most) + " pieces");
    const PartRange range{static_cast<std::uint32_t>(table_.parts.size()),
                          static_cast<std::uint32_t>(transfer.pieces.size())};
    for (const Piece& piece : transfer.pieces)
      table_.parts.push_back(
          {matrix.src(piece.message), matrix.dst(piece.message), piece.offset, piece.bytes});
    return range;
  }
  PhaseEntry& entry_at(std::size_t index) {
    if (index == table_.entries.size()) table_.entries.push_back({.phase = phase_});
    return table_.entries[index];
  }

  PhaseTable table_;
  PhaseId phase_ = 0;
  std::size_t next_send_ = 0;  // index of the entry for the phase's next send
  std::size_t next_recv_ = 0;
};

}  // namespace

PhaseTable slice(const CommMatrix& matrix, const Schedule& schedule, Rank rank) {
  TableBuilder builder(matrix, schedule, rank);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    builder.begin_phase(phase);
    for (const Transfer& transfer : schedule.transfers(phase)) {
      const bool straight = is_straight(matrix, transfer);
      if (!straight) check_way(matrix, phase, transfer);
      if (transfer.src == rank) builder.add_send(matrix, transfer, straight);
      if (transfer.dst == rank) builder.add_recv(matrix, transfer, straight);
    }
  }
  return builder.take();
}

std::vector<PhaseTable> slice_all(const CommMatrix& matrix, const Schedule& schedule) {
  std::vector<TableBuilder> builders;
  builders.reserve(static_cast<std::size_t>(matrix.num_ranks()));
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) builders.emplace_back(matrix, schedule, rank);
  // A builder learns of a phase when the schedule has the first transfer of its rank in this phase, so that
  // idle ranks cost nothing.
  std::vector<PhaseId> seen(builders.size(), schedule.num_phases());
  const auto builder_in = [&](Rank rank, PhaseId phase) -> TableBuilder& {
    const auto index = static_cast<std::size_t>(rank);
    if (seen[index] != phase) {
      builders[index].begin_phase(phase);
      seen[index] = phase;
    }
    return builders[index];
  };
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      const bool straight = is_straight(matrix, transfer);
      if (!straight) check_way(matrix, phase, transfer);
      builder_in(transfer.src, phase).add_send(matrix, transfer, straight);
      builder_in(transfer.dst, phase).add_recv(matrix, transfer, straight);
    }
  }
  std::vector<PhaseTable> tables;
  tables.reserve(builders.size());
  for (TableBuilder& builder : builders) tables.push_back(builder.take());
  return tables;
}

PhaseTable reversed(const PhaseTable& table) {
  PhaseTable result{.rank = table.rank,
                    .num_ranks = table.num_ranks,
                    .num_phases = table.num_phases,
                    .destinations = table.sources,
                    .sources = table.destinations,
                    .entries = {},
                    .parts = table.parts};
  for (Part& part : result.parts) std::swap(part.src, part.dst);
  result.entries.reserve(table.entries.size());
  for (const PhaseEntry& entry : std::views::reverse(table.entries))
    result.entries.push_back({.phase = table.num_phases - 1 - entry.phase,
                              .send_partner = entry.recv_partner,
                              .send_bytes = entry.recv_bytes,
                              .send_offset = entry.recv_offset,
                              .recv_partner = entry.send_partner,
                              .recv_bytes = entry.send_bytes,
                              .recv_offset = entry.send_offset,
                              .send_parts = entry.recv_parts,
                              .recv_parts = entry.send_parts});
  return result;
}

Bytes staged_bytes(const PhaseTable& table) {
  Bytes bytes = 0;
  for (const PhaseEntry& entry : table.entries)
    for (const Part& part : table.parts_in(entry.recv_parts))
      if (part.dst != table.rank) bytes = part.bytes > max_bytes - bytes ? max_bytes : bytes + part.bytes;
  return bytes;
}

}  // namespace nuice
