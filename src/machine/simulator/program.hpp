// SPDX-License-Identifier: BSD-3-Clause
// What every rank's processor does, one operation after the other: an executor's view of a schedule.
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
  work,        ///< `seconds` of software
  post,        ///< the receive of a transfer
  launch,      ///< hands a transfer to the network
  wait_sends,  ///< until all launched ones have left
  wait_all,    ///< until also all posted receives are complete
  wait_parts,  ///< until a transfer's forwarded pieces have arrived
  meet,        ///< the partner of an exchange
  serve,       ///< DRS_N: ask, send, release, until nothing is left to send
};

struct Op {
  OpKind kind;
  std::uint32_t id;  ///< transfer, meeting or phase
  double seconds;    ///< of work
};

/// A transfer of the schedule as the simulator sees it.
struct Move {
  Rank src = 0;
  Rank dst = 0;
  Bytes bytes = 0;
  PhaseId phase = 0;
  std::int64_t path = no_path;
  bool together = false;      ///< Half of an exchange that both partners begin together.
  std::uint32_t missing = 0;  ///< Forwarded pieces that have not arrived at src.
  double packing_s = 0;       ///< Of pieces into one transfer, at both ends.
};

struct Meeting {
  Rank first = no_rank;
  Rank second = no_rank;
  int arrived = 0;
};

struct Program {
  std::vector<Move> moves;                         // by transfer
  std::vector<std::vector<Op>> ops;                // by rank
  std::vector<std::vector<TransferId>> needed_by;  // by transfer; empty for schedules that forward nothing
  std::vector<Meeting> meetings;
};

Program compile(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine, Pace pace,
                bool blocking_sends);

/// All receives posted, then the handshakes; moves[i] is message i.
Program compile_drs_n(const CommMatrix& matrix, const Machine& machine);

}  // namespace nuice::machine
