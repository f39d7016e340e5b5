// SPDX-License-Identifier: BSD-3-Clause
// Slicing: each rank's sends and receives of a phase are laid side by side, the first send with the first
// receive.
#include "nuice/phase_table.hpp"

#include <string>

#include "nuice/error.hpp"

namespace nuice {
namespace {

void check_direct(const CommMatrix& matrix, const Transfer& transfer, const Piece& piece) {
  const Message message = matrix.message(piece.message);
  if (message.src == transfer.src && message.dst == transfer.dst) return;
  throw Error(ErrorCode::not_applicable,
              "the message of rank " + std::to_string(message.src) + " -> rank " +
                  std::to_string(message.dst) + " is forwarded by rank " + std::to_string(transfer.src) +
                  " to rank " + std::to_string(transfer.dst) + "; a phase table holds direct transfers only");
}

/// Fills one rank's table. Sends and receives of one phase go into the same entries as far as they last.
class TableBuilder {
 public:
  TableBuilder(const CommMatrix& matrix, const Schedule& schedule, Rank rank)
      : table_(empty_table(matrix, schedule, rank)) {}

  void begin_phase(PhaseId phase) {
    phase_ = phase;
    next_send_ = next_recv_ = table_.entries.size();
  }
  void add_send(Rank partner, const Piece& piece) {
    PhaseEntry& entry = entry_at(next_send_++);
    entry.send_partner = partner;
    entry.send_bytes = piece.bytes;
    entry.send_offset = piece.offset;
  }
  void add_recv(Rank partner, const Piece& piece) {
    PhaseEntry& entry = entry_at(next_recv_++);
    entry.recv_partner = partner;
    entry.recv_bytes = piece.bytes;
    entry.recv_offset = piece.offset;
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
  PhaseEntry& entry_at(std::size_t index) {
    if (index == table_.entries.size()) table_.entries.push_back({.phase = phase_});
    return table_.entries[index];
  }

  PhaseTable table_;
  PhaseId phase_ = 0;
  std::size_t next_send_ = 0;  // index of the entry that takes the phase's next send
  std::size_t next_recv_ = 0;
};

}  // namespace

PhaseTable slice(const CommMatrix& matrix, const Schedule& schedule, Rank rank) {
  TableBuilder builder(matrix, schedule, rank);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    builder.begin_phase(phase);
    for (const Transfer& transfer : schedule.transfers(phase)) {
      for (const Piece& piece : transfer.pieces) {
        check_direct(matrix, transfer, piece);
        if (transfer.src == rank) builder.add_send(transfer.dst, piece);
        if (transfer.dst == rank) builder.add_recv(transfer.src, piece);
      }
    }
  }
  return builder.take();
}

std::vector<PhaseTable> slice_all(const CommMatrix& matrix, const Schedule& schedule) {
  std::vector<TableBuilder> builders;
  builders.reserve(static_cast<std::size_t>(matrix.num_ranks()));
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) builders.emplace_back(matrix, schedule, rank);
  // A rank's builder learns of a phase at its first transfer in it, so that idle ranks cost nothing.
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
      for (const Piece& piece : transfer.pieces) {
        check_direct(matrix, transfer, piece);
        builder_in(transfer.src, phase).add_send(transfer.dst, piece);
        builder_in(transfer.dst, phase).add_recv(transfer.src, piece);
      }
    }
  }
  std::vector<PhaseTable> tables;
  tables.reserve(builders.size());
  for (TableBuilder& builder : builders) tables.push_back(builder.take());
  return tables;
}

}  // namespace nuice
