// SPDX-License-Identifier: BSD-3-Clause
// An event-driven simulator: how long a schedule takes on a machine, and what the time is spent on.
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
  /// A name of executors() (nuice/core/executor.hpp). Its pace says what a rank waits for.
  std::string executor{default_executor};
  bool blocking_sends =
      true;  ///< A rank starts its next send when the last one has left; otherwise it queues all sends.
  bool record_timeline = false;  ///< Fills Simulation::timeline.
};

struct DrsOptions {
  std::uint64_t seed = 0;                              ///< Draws every rank's order of destinations.
  std::optional<double> retry_delay_s = std::nullopt;  ///< Instead of the machine's am_retry_s.
  bool record_timeline = false;
};

enum class Activity {
  software,   ///< The processor works: overheads, copies, inquiries.
  waiting,    ///< The processor waits: for a partner, a port, a message, all ranks.
  sending,    ///< The send port is held: start-up and bytes on the way out.
  blocked,    ///< The send port is held, but links or the receiver are busy.
  receiving,  ///< Bytes arrive.
};

struct Interval {
  Rank rank;
  Activity activity;
  double begin_s;
  double end_s;
  Rank peer;      ///< no_rank where there is none.
  Bytes bytes;    ///< Bytes of the transfer; 0 if there is none.
  PhaseId phase;  ///< Phase of the transfer; 0 if there is none.
};

struct RankTimes {
  double finished_s = 0;
  double software_s = 0;
  double waiting_s = 0;  ///< Time the processor waits.
  double blocked_s = 0;  ///< Time the send port is blocked.
  double idle_s = 0;     ///< Time without software, start-up, or bytes in or out, until the last rank ends.
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
  std::uint64_t timeouts = 0;         ///< Starts of messages that a full queue rejected.
  std::uint64_t inquiries = 0;        ///< DRS_N: test-and-sets sent ...
  std::uint64_t refusals = 0;         ///< ... and those that found the receiver busy.
  std::vector<Interval> timeline;     ///< Sorted by begin; empty unless requested.
};

/// Runs a schedule. Throws Error invalid_argument as require_valid(machine), and for an executor that is
/// unknown, is not simulated or takes no schedule; mismatch if the topology has fewer ranks than the matrix,
/// or the schedule another number of ranks; state if ranks would wait for each other forever (the text names
/// one of them).
/// Cost: about a microsecond per transfer without link sharing, 24 bytes per operation of a rank.
Simulation simulate(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                    const SimulationOptions& options = {});

/// Runs the handshaking DRS_N of 004 fig. 5, which needs no schedule: before it sends, a rank tests and sets
/// the lock of the receiver by an active message; if it is refused, it tries its next destination.
/// Throws Error mismatch as above, not_applicable for a machine on which an inquiry takes no time, limit if
/// an inquiry is too short for a double to represent next to the other times, or after 2^22 refusals.
Simulation simulate_drs_n(const CommMatrix& matrix, const Machine& machine, const DrsOptions& options = {});

/// No execution of any schedule is faster: the largest number of bytes through a port, at the port's speed,
/// plus the cost of one message without its bytes. On half-duplex machines bytes in and out are added.
double port_bound_s(const CommMatrix& matrix, const Machine& machine);

/// The same for the busiest link, if every message takes its own route directly; 0 without links, and if
/// routes are drawn at random.
double link_bound_s(const CommMatrix& matrix, const Machine& machine);

}  // namespace nuice
