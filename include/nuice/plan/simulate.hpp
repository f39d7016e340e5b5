// SPDX-License-Identifier: BSD-3-Clause
// An event-driven simulator: how long a schedule takes on a machine, and where the time goes.
//
//   const Simulation run = simulate(matrix, schedule, find_machine("cm5-32"), {.executor = "pairwise"});
//   run.seconds, run.ranks[3].idle_s, run.link_contention
//
// Deterministic: the same arguments give the same result; events at the same time are taken in the order of their ids.
// docs/reference/machines.md has the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {

struct SimulationOptions {
  /// A name of executors() (nuice/core/executor.hpp), which says by its pace what a rank waits for.
  std::string executor{default_executor};
  bool blocking_sends =
      true;  ///< A rank waits for its send to leave before the next one; otherwise it queues all.
  bool record_timeline = false;  ///< Fills Simulation::timeline.
};

/// DRS_N: what becomes of an inquiry that finds the receiver busy. As drs::WhenBusy (drs.hpp).
enum class DrsWhenBusy {
  refuse,  ///< The sender tries its next destination, and this one again later (004 fig. 5).
  list,    ///< The receiver notes it and grants the next when it is free.
};

/// "refuse", "list".
std::string_view when_busy_name(DrsWhenBusy when_busy);
/// By name. Throws Error invalid_argument that lists the known names.
DrsWhenBusy find_when_busy(std::string_view name);

struct DrsOptions {
  std::uint64_t seed = 0;  ///< Draws every rank's order of destinations.
  std::optional<double> retry_delay_s =
      std::nullopt;  ///< In place of the machine's am_retry_s; `refuse` only.
  bool record_timeline = false;
  DrsWhenBusy when_busy = DrsWhenBusy::refuse;
  Bytes early_bytes = 0;  ///< `list` only: the next is granted when at most this number of bytes is left.
};

enum class Activity {
  software,   ///< The processor works: overheads, copies, inquiries.
  waiting,    ///< The processor waits: for a partner, a port, a message, all ranks.
  sending,    ///< The send port is held: start-up and bytes on the way out.
  blocked,    ///< The send port is held, but links or the receiver are busy.
  receiving,  ///< Bytes come in.
};

struct Interval {
  Rank rank;
  Activity activity;
  double begin_s;
  double end_s;
  Rank peer;      ///< no_rank where there is none.
  Bytes bytes;    ///< Of the transfer; 0 where there is none.
  PhaseId phase;  ///< Of the transfer; 0 where there is none.
};

struct RankTimes {
  double finished_s = 0;
  double software_s = 0;
  double waiting_s = 0;  ///< Of the processor.
  double blocked_s = 0;  ///< Of the send port.
  double idle_s =
      0;  ///< Neither software, nor a byte or start-up on the way out or in, until the last rank ends.
  Bytes sent_bytes = 0;
  Bytes received_bytes = 0;
};

struct Simulation {
  double seconds = 0;  ///< When the last rank has finished.
  std::vector<RankTimes> ranks;
  std::vector<Bytes> delivered;  ///< By message: bytes that arrived at its destination.
  std::uint64_t transfers = 0;
  std::uint64_t node_contention = 0;  ///< Transfers that found their receiver's port in use.
  std::uint64_t link_contention = 0;  ///< Transfers that found a link of their route full.
  std::uint64_t timeouts = 0;         ///< Beginnings that a full queue turned away.
  std::uint64_t inquiries = 0;        ///< DRS_N: test-and-sets sent ...
  std::uint64_t refusals = 0;         ///< ... and those that found the receiver busy.
  std::vector<Interval> timeline;     ///< By begin; empty unless asked for.
};

/// Runs a schedule. Throws Error invalid_argument as require_valid(machine), and for an executor that is unknown, is not
/// simulated or takes no schedule; mismatch if the topology has fewer ranks than the matrix, or the schedule another
/// number; state if ranks would wait for each other forever (the message names one).
/// Cost: about a microsecond per transfer without link sharing, 24 bytes per operation of a rank.
Simulation simulate(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                    const SimulationOptions& options = {});

/// Runs the handshaking DRS_N of 004 fig. 5, which needs no schedule: before it sends, a rank tests and sets the lock of
/// the receiver by an active message; refused, it tries its next destination. Beyond the paper (DrsWhenBusy::list) the
/// receiver keeps the refused in a list. A message of more than early_bytes then counts as two transfers.
/// Throws Error mismatch as above, not_applicable for a machine on which an inquiry takes no time, invalid_argument for
/// early_bytes below 0, limit if an inquiry takes so little compared with the rest that a double cannot tell, or after 2^22
/// refusals.
Simulation simulate_drs_n(const CommMatrix& matrix, const Machine& machine, const DrsOptions& options = {});

/// No execution of any schedule is faster: the most bytes through a port, at the port's speed, plus what one message
/// costs in addition to its bytes. For half-duplex machines bytes in and out count together.
double port_bound_s(const CommMatrix& matrix, const Machine& machine);

/// The same for the busiest link, where every message takes its route straight; 0 without links, and where routes are drawn.
double link_bound_s(const CommMatrix& matrix, const Machine& machine);

}  // namespace nuice
