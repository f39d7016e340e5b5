// SPDX-License-Identifier: BSD-3-Clause
// An event-driven simulator: tells how long a schedule takes on a machine, and how the time is spent.
//
//   const Simulation run = simulate(matrix, schedule, find_machine("cm5-32"), {.executor = "pairwise"});
//   run.seconds, run.ranks[3].idle_s, run.link_contention
//
// The same arguments give the same result; simultaneous events are handled in the order of their ids.
// docs/reference/machines.md describes the model.
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
  /// A name of executors() (nuice/core/executor.hpp). Its pace determines what a rank waits for.
  std::string executor{default_executor};
  /// Whether a rank starts its next send only when the previous one has left; otherwise it queues all sends.
  bool blocking_sends = true;
  bool record_timeline = false;  ///< Whether to fill Simulation::timeline.
};

struct DrsOptions {
  std::uint64_t seed = 0;  ///< The seed from which every rank's order of destinations is drawn.
  /// The delay before a refused rank inquires again, instead of the machine's am_retry_s.
  std::optional<double> retry_delay_s = std::nullopt;
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
  Rank peer;      ///< The other rank of the transfer; no_rank if there is none.
  Bytes bytes;    ///< The bytes of the transfer; 0 if there is none.
  PhaseId phase;  ///< The phase of the transfer; 0 if there is none.
};

struct RankTimes {
  double finished_s = 0;
  double software_s = 0;
  double waiting_s = 0;  ///< The time for which the processor waits.
  double blocked_s = 0;  ///< The time for which the send port is blocked.
  double idle_s = 0;     ///< The time without software, start-up or bytes, until the last rank has finished.
  Bytes sent_bytes = 0;
  Bytes received_bytes = 0;
};

struct Simulation {
  double seconds = 0;  ///< The time at which the last rank has finished.
  std::vector<RankTimes> ranks;
  std::vector<Bytes> delivered;  ///< For each message, the bytes that arrived at its destination.
  std::uint64_t transfers = 0;
  std::uint64_t node_contention = 0;  ///< The number of transfers whose receiver's port was in use.
  std::uint64_t link_contention = 0;  ///< The number of transfers that found a link of their route full.
  std::uint64_t timeouts = 0;         ///< The number of starts of messages that a full queue rejected.
  std::uint64_t inquiries = 0;        ///< The number of test-and-sets that DRS_N sent.
  std::uint64_t refusals = 0;         ///< The number of test-and-sets that found the receiver busy.
  std::vector<Interval> timeline;     ///< The intervals, sorted by begin; empty unless requested.
};

/// Simulates a schedule. Throws Error invalid_argument as require_valid(machine), and for an executor that is
/// unknown, is not simulated or takes no schedule; mismatch if the topology has fewer ranks than the matrix,
/// or the schedule a different number of ranks; state if ranks would wait for each other forever (the text
/// names one of them).
/// Cost: about a microsecond per transfer without link sharing, 24 bytes per operation of a rank.
Simulation simulate(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                    const SimulationOptions& options = {});

/// Simulates the handshaking DRS_N of 004 fig. 5, which needs no schedule. Before a rank sends, it tests and
/// sets the lock of the receiver by an active message; if it is refused, it tries its next destination.
/// Throws Error mismatch as simulate(); not_applicable for a machine on which an inquiry takes no time; limit
/// if an inquiry is too short for a double to represent next to the other times, or after 2^22 refusals.
Simulation simulate_drs_n(const CommMatrix& matrix, const Machine& machine, const DrsOptions& options = {});

/// Returns a lower bound on the time of every schedule: the largest number of bytes through a port at the
/// port's speed, plus the cost of one message without its bytes. On half-duplex machines bytes in and out are
/// added.
double port_bound_s(const CommMatrix& matrix, const Machine& machine);

/// Returns a lower bound on the time of direct schedules, from the busiest link, if every message takes the
/// topology's route. 0 without links, or if routes are drawn at random.
double link_bound_s(const CommMatrix& matrix, const Machine& machine);

}  // namespace nuice
