// SPDX-License-Identifier: BSD-3-Clause
// An event-driven simulator. It computes how long a schedule takes on a machine, and how the time is spent.
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
  /// A name of executors() (nuice/core/executor.hpp). The executor's pace determines for what a rank waits.
  std::string executor{default_executor};
  /// Whether a rank starts its next send only when the previous message has left. If false, a rank queues all
  /// its sends at once.
  bool blocking_sends = true;
  bool record_timeline = false;  ///< Whether to fill Simulation::timeline.
};

struct DrsOptions {
  std::uint64_t seed = 0;  ///< The seed from which every rank's order of destinations is drawn.
  /// The delay before a rank inquires again after a refusal; by default the machine's am_retry_s.
  std::optional<double> retry_delay_s = std::nullopt;
  bool record_timeline = false;
};

enum class Activity {
  software,   ///< The processor works: overheads, copies, inquiries.
  waiting,    ///< The processor waits: for a partner, a port, a message, all ranks.
  sending,    ///< The send port is held, for start-up or for bytes that leave.
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
  /// The time without software, start-up or bytes, counted until the last rank has finished.
  double idle_s = 0;
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
  std::uint64_t timeouts = 0;      ///< The number of times that a full queue rejected a message at its start.
  std::uint64_t inquiries = 0;     ///< The number of test-and-sets that DRS_N sent.
  std::uint64_t refusals = 0;      ///< The number of test-and-sets that found the receiver busy.
  std::vector<Interval> timeline;  ///< The intervals, sorted by begin; empty unless record_timeline is set.
};

/// Simulates a schedule. Throws Error with code `invalid_argument` as require_valid(machine), and for an
/// executor that is unknown, cannot be simulated or takes no schedule; `mismatch` if the topology has fewer
/// ranks than the matrix, or the schedule has a different number of ranks; `state` if ranks would wait for
/// each other forever (the text names one of them).
/// Cost: about a microsecond per transfer without link sharing, 24 bytes per operation of a rank.
Simulation simulate(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                    const SimulationOptions& options = {});

/// Simulates the handshaking DRS_N of 004 fig. 5, which needs no schedule. Before a rank sends, it tests and
/// sets the lock of the receiver by an active message (an inquiry). If the receiver is busy, the rank tries
/// its next destination. Throws Error with code `mismatch` as simulate(); `not_applicable` for a machine on
/// which an inquiry takes no time; `limit` if an inquiry is so short that a double cannot represent it next
/// to the other times, or after 2^22 refusals.
Simulation simulate_drs_n(const CommMatrix& matrix, const Machine& machine, const DrsOptions& options = {});

/// Returns a lower bound on the time of every schedule: the time of the busiest port for its bytes, plus the
/// cost of one message without its bytes. On half-duplex machines the bytes of a port are the sum of sent and
/// received bytes.
double port_bound_s(const CommMatrix& matrix, const Machine& machine);

/// Returns a lower bound on the time of direct schedules: the time of the busiest link for its bytes, if
/// every message takes the topology's route. 0 if routes have no links, or if routes are drawn at random.
double link_bound_s(const CommMatrix& matrix, const Machine& machine);

}  // namespace nuice
