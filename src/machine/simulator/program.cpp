// SPDX-License-Identifier: BSD-3-Clause
#include "machine/simulator/program.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace nuice::machine {
namespace {

std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

/// For every rank, the transfers that it sends, or those that it receives, in the order of the schedule.
using ByRank = std::vector<std::vector<TransferId>>;

struct Sides {
  ByRank sends;
  ByRank receives;
};

Sides sides_of(const std::vector<Move>& moves, Rank num_ranks) {
  Sides sides{ByRank(at(num_ranks)), ByRank(at(num_ranks))};
  for (TransferId id = 0; id < moves.size(); ++id) {
    sides.sends[at(moves[id].src)].push_back(id);
    sides.receives[at(moves[id].dst)].push_back(id);
  }
  return sides;
}

std::vector<Move> moves_of(const Schedule& schedule, const Machine& machine) {
  const double copy_byte_s = machine.copies_parts ? machine.copy_byte_s : 0;
  std::vector<Move> moves;
  moves.reserve(schedule.num_transfers());
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer transfer : schedule.transfers(phase)) {
      const Bytes bytes = transfer.bytes();
      moves.push_back({transfer.src, transfer.dst, bytes, phase, transfer.path});
      if (transfer.pieces.size() > 1) moves.back().packing_s = copy_byte_s * static_cast<double>(bytes);
    }
  }
  return moves;
}

/// Finds for each transfer the earlier transfers that bring the pieces that it forwards. They must arrive
/// before it may leave.
void find_forwards(const CommMatrix& matrix, const Schedule& schedule, Program& program) {
  std::map<MessageId, std::vector<TransferId>> carriers;
  for (TransferId id = 0; id < program.moves.size(); ++id) {
    for (const Piece piece : schedule.transfer(id).pieces) {
      const bool starts_here = matrix.src(piece.message) == program.moves[id].src;
      const bool ends_here = matrix.dst(piece.message) == program.moves[id].dst;
      if (!starts_here) {
        program.needed_by.resize(program.moves.size());
        for (const TransferId before : carriers[piece.message]) {
          if (program.moves[before].dst != program.moves[id].src) continue;
          program.needed_by[before].push_back(id);
          ++program.moves[id].missing;
        }
      }
      if (!ends_here) carriers[piece.message].push_back(id);
    }
  }
}

/// A writer of one rank's operations.
class Writer {
 public:
  Writer(const Machine& machine, const Program& program, std::vector<Op>& ops, double send_s)
      : machine_(machine), program_(program), ops_(ops), send_s_(send_s) {}

  void add(OpKind kind, std::uint32_t id = 0) { ops_.push_back({kind, id, 0}); }
  void work(double seconds) {
    if (seconds > 0) ops_.push_back({OpKind::work, 0, seconds});
  }
  void post(std::span<const TransferId> receives) {
    work(machine_.post_receive_s * static_cast<double>(receives.size()));
    for (const TransferId id : receives) add(OpKind::post, id);
  }
  void send(TransferId id, double saved_s = 0) {
    if (program_.moves[id].missing > 0) add(OpKind::wait_parts, id);
    work(send_s_ - saved_s + program_.moves[id].packing_s);
    add(OpKind::launch, id);
  }
  void send(std::span<const TransferId> sends, bool blocking) {
    for (const TransferId id : sends) {
      send(id);
      if (blocking && id != sends.back()) add(OpKind::wait_sends);
    }
  }

 private:
  const Machine& machine_;
  const Program& program_;
  std::vector<Op>& ops_;
  double send_s_;  // the time to send a message
};

/// Removes from a list its first transfers, as long as they belong to `phase`, and returns them.
std::span<const TransferId> take_phase(std::span<const TransferId>& list, PhaseId phase,
                                       const std::vector<Move>& moves) {
  std::size_t count = 0;
  while (count < list.size() && moves[list[count]].phase == phase) ++count;
  const auto taken = list.first(count);
  list = list.subspan(count);
  return taken;
}

class Compiler {
 public:
  Compiler(const Schedule& schedule, const Machine& machine, Pace pace, bool blocking_sends, Program& program)
      : schedule_(schedule),
        machine_(machine),
        pace_(pace),
        blocking_sends_(blocking_sends),
        program_(program) {}

  void write_all() {
    const Sides sides = sides_of(program_.moves, schedule_.num_ranks());
    const bool at_once = pace_ == Pace::at_once;
    const double send_s = machine_.send_overhead_s + (at_once ? machine_.async_send_s : 0);
    for (Rank rank = 0; rank < schedule_.num_ranks(); ++rank) {
      Writer writer(machine_, program_, program_.ops[at(rank)], send_s);
      if (at_once) {
        writer.post(sides.receives[at(rank)]);
        writer.send(sides.sends[at(rank)], blocking_sends_);
        writer.add(OpKind::wait_all);
      } else {
        write_phases(writer, rank, sides.sends[at(rank)], sides.receives[at(rank)]);
      }
    }
  }

 private:
  void write_phases(Writer& writer, Rank rank, std::span<const TransferId> sends,
                    std::span<const TransferId> receives) {
    for (PhaseId phase = 0; phase < schedule_.num_phases(); ++phase) {
      const auto out = take_phase(sends, phase, program_.moves);
      const auto in = take_phase(receives, phase, program_.moves);
      const bool idle = out.empty() && in.empty();
      writer.work(idle ? machine_.idle_phase_s : machine_.phase_s);
      if (!idle) write_phase(writer, rank, out, in);
    }
  }

  void write_phase(Writer& writer, Rank rank, std::span<const TransferId> out,
                   std::span<const TransferId> in) {
    const bool exchange = is_exchange(out, in);
    if (pace_ == Pace::pairs && exchange) {
      write_exchange(writer, rank, out.front(), in.front());
      return;
    }
    writer.post(in);
    if (exchange) {
      writer.send(out.front(), machine_.exchange_saves_s);
    } else {
      writer.send(out, blocking_sends_);
    }
    writer.add(OpKind::wait_all);
  }

  bool is_exchange(std::span<const TransferId> out, std::span<const TransferId> in) const {
    return out.size() == 1 && in.size() == 1 && program_.moves[out[0]].dst == program_.moves[in[0]].src;
  }

  void write_exchange(Writer& writer, Rank rank, TransferId out, TransferId in) {
    const Rank partner = program_.moves[out].dst;
    if (machine_.duplex != Duplex::half) {
      program_.moves[out].together = true;
      writer.add(OpKind::meet, meeting_of(out, in, rank, partner));
      writer.post({&in, 1});
      writer.send(out, machine_.exchange_saves_s);
    } else if (rank < partner) {
      writer.post({&in, 1});
      writer.add(OpKind::wait_all);
      writer.send(out, machine_.exchange_saves_s);
    } else {
      writer.send(out, machine_.exchange_saves_s);
      writer.add(OpKind::wait_all);
      writer.post({&in, 1});
    }
    writer.add(OpKind::wait_all);
  }

  /// Returns the meeting (program.hpp) of an exchange. Both partners get the same meeting, although `out` and
  /// `in` are swapped between them.
  std::uint32_t meeting_of(TransferId out, TransferId in, Rank rank, Rank partner) {
    const auto [entry, is_new] =
        meeting_ids_.try_emplace(std::min(out, in), static_cast<std::uint32_t>(program_.meetings.size()));
    if (is_new) program_.meetings.push_back({rank, partner, 0});
    return entry->second;
  }

  const Schedule& schedule_;
  const Machine& machine_;
  const Pace pace_;
  const bool blocking_sends_;
  Program& program_;
  std::map<TransferId, std::uint32_t> meeting_ids_;
};

}  // namespace

Program compile(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine, Pace pace,
                bool blocking_sends) {
  Program program;
  program.moves = moves_of(schedule, machine);
  program.ops.resize(at(schedule.num_ranks()));
  find_forwards(matrix, schedule, program);
  Compiler(schedule, machine, pace, blocking_sends, program).write_all();
  return program;
}

Program compile_drs_n(const CommMatrix& matrix, const Machine& machine) {
  Program program;
  program.ops.resize(at(matrix.num_ranks()));
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    program.moves.push_back({matrix.src(id), matrix.dst(id), matrix.bytes(id)});
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    Writer writer(machine, program, program.ops[at(rank)], 0);  // the operation `serve` adds the time to send
    writer.post(matrix.received_by(rank));
    writer.add(OpKind::serve);
    writer.add(OpKind::wait_all);
  }
  return program;
}

}  // namespace nuice::machine
