// SPDX-License-Identifier: BSD-3-Clause
// The operations of every rank's processor, in order: a schedule as an executor sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/simulator/network.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::machine {

enum class OpKind : std::uint8_t {
  work,        ///< Runs software for `seconds`.
  post,        ///< Posts the receive of a transfer.
  launch,      ///< Passes a transfer to the network.
  wait_sends,  ///< Waits until all launched transfers have left.
  wait_all,    ///< Waits until all launched transfers have left and all posted receives are complete.
  wait_parts,  ///< Waits until a transfer's forwarded pieces have arrived.
  meet,        ///< Waits for the partner of an exchange.
  serve,       ///< Sends all messages by DRS_N: asks, sends, releases.
};

struct Op {
  OpKind kind;
  std::uint32_t id;  ///< A transfer, a meeting or a phase.
  double seconds;    ///< The time of work.
};

/// A transfer of the schedule for the simulator.
struct Move {
  Rank src = 0;
  Rank dst = 0;
  Bytes bytes = 0;
  PhaseId phase = 0;
  std::int64_t path = no_path;
  bool together = false;      ///< Whether it belongs to an exchange that both partners begin together.
  std::uint32_t missing = 0;  ///< The number of forwarded pieces that have not arrived at src.
  double packing_s = 0;       ///< The time to pack pieces into one transfer, and to unpack them.
};

struct Meeting {
  Rank first = no_rank;
  Rank second = no_rank;
  int arrived = 0;
};

struct Program {
  std::vector<Move> moves;                         // by transfer
  std::vector<std::vector<Op>> ops;                // by rank
  std::vector<std::vector<TransferId>> needed_by;  // by transfer; empty if nothing is forwarded
  std::vector<Meeting> meetings;
};

Program compile(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine, Pace pace,
                bool blocking_sends);

/// Compiles a program in which ranks post all receives and then send by handshakes. moves[i] is message i.
Program compile_drs_n(const CommMatrix& matrix, const Machine& machine);

}  // namespace nuice::machine
