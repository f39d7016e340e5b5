// SPDX-License-Identifier: BSD-3-Clause
// The adviser: which scheduler and executor suit a matrix, a machine and a number of reuses, and why not the others
// (000 s.4.1 and s.7).
//
//   const Advice advice = advise(matrix, find_machine("ethernet-10g"), {.reuse = 1000});
//   advice.choice().name()          // "coloring:async"
//   advice.sentence                 // why, in words; to_text(advice) has a line for every candidate
//   const Schedule plan = advised_schedule(matrix, machine, advice);
//
// A candidate costs  total_s = planning_s / reuse + exchange_s  (S / R + C, 000 s.7); the least total wins. Two ways to
// predict C: a rule in closed form from the degrees and sizes of the matrix, and the simulators. How many
// candidates are simulated is decided by counted work, never by a clock: the same arguments give the same
// advice, in every run and on every rank. docs/explanation/advise.md says how it chooses, and how good that
// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/plan/machine.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice {

/// How an exchange time was predicted. Later kinds are better and cost more.
enum class Prediction {
  rule,        ///< In closed form from degrees and sizes; no schedule was made.
  simulation,  ///< The schedule was made and simulated.
};

std::string_view prediction_name(Prediction prediction);
/// By name ("rule"). Throws Error invalid_argument that lists the known names.
Prediction find_prediction(std::string_view name);

struct AdviceOptions {
  /// R: how often the plan will be used. At least 1.
  std::uint64_t reuse = 100;
  /// "SCHEDULER:EXECUTOR", or "SCHEDULER" for the executor that suits the machine: names of
  /// nuice::executors(). Executors without a schedule have a fixed first part ("drs_n:handshake"). Empty:
  /// all_candidates(machine).
  std::vector<std::string> candidates = {};
  std::uint64_t seed = 0;  ///< Seed of schedulers and of drs_n.
  /// Predict all candidates by the rule or by simulation, whatever it costs. Without it the work is bounded:
  /// see budget_s.
  std::optional<Prediction> predict_by = std::nullopt;
  /// The time that deciding may take, estimated from counted work. By default half of reuse times the
  /// predicted exchange time, but at least 0.1 ms (making a plan takes about as long) and at most 3 s.
  std::optional<double> budget_s = std::nullopt;
  /// The relative error of the machine's description; it widens Candidate::uncertainty. Nine of ten times
  /// that the papers print for the CM-5 differ from the simulated ones by less than the default
  /// (papers/docs/reproduce.md).
  double machine_uncertainty = 0.18;
};

/// The prediction for one scheduler with one executor. Times in seconds.
struct Candidate {
  std::string scheduler;
  std::string executor;
  bool applicable = true;
  Prediction predicted_by = Prediction::rule;
  PhaseId phases = 0;     ///< Predicted by the rule: expected; otherwise those of the schedule. 0: none
                          ///< (drs_n).
  Bytes phase_bytes = 0;  ///< Sum over the phases of the largest transfer; expected or counted, as phases.
  double planning_s =
      0;  ///< S: making and checking the schedule once, counted, at the machine's speed of planning.
  double exchange_s = 0;  ///< C.
  double total_s = 0;     ///< S / R + C.
  double to_bound = 0;    ///< exchange_s over Advice::bound_s; 0 without a bound.
  double uncertainty =
      0;  ///< Relative error of exchange_s: in nine cases of ten the time is within exchange_s * (1 +-
          ///< uncertainty).
  /// Why it is not the choice, or not applicable, in one sentence; empty for the choice.
  std::string why_not = {};

  std::string name() const { return scheduler + ":" + executor; }
};

struct Advice {
  std::string machine;
  std::string topology;
  Rank num_ranks = 0;
  MessageId num_messages = 0;
  Bytes total_bytes = 0;
  std::uint64_t reuse = 1;
  std::uint64_t seed = 0;
  double port_bound_s = 0;  ///< No execution is faster.
  double link_bound_s = 0;  ///< No direct execution is faster; 0 if routes have no links.
  double bound_s = 0;       ///< The larger one.

  /// Settings of the schedules, in addition to the seed: a plan must use the same.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  bool prefer_pairs = false;

  /// The choice first, then the other applicable candidates by total_s (unsimulated ones by its upper end), then the
  /// inapplicable ones in the given order.
  std::vector<Candidate> candidates;
  /// How the choice and its nearest rivals were predicted, and the time this took. budget_s is 0 if
  /// predict_by was given.
  Prediction decided_by = Prediction::rule;
  double deciding_s = 0;  ///< Estimated from counted work, as planning_s is.
  double budget_s = 0;
  /// The choice and the reason, in words; it says so if a better decision would have cost more than it could
  /// gain.
  std::string sentence;
  /// The choice's schedule if deciding has made it; otherwise null.
  std::shared_ptr<const Schedule> schedule = nullptr;

  const Candidate& choice() const { return candidates.front(); }
  /// The number of first candidates whose uncertainty ranges overlap the choice's, including the choice.
  std::size_t num_contenders() const;
};

/// The candidates that NUICE can simulate on the machine: link-free schedulers only if it has links, drs_n
/// only if it has active messages.
std::vector<std::string> all_candidates(const Machine& machine);

/// The candidates that plans on MPI can carry out: executors with on_mpi.
std::vector<std::string> mpi_candidates(const Machine& machine);

/// Throws Error invalid_argument for an unknown scheduler or executor, an executor that does not suit the
/// scheduler, or an option out of range (all before any work); mismatch if the machine has fewer ranks than
/// the matrix; not_applicable if no candidate is applicable, with the reason of the first.
Advice advise(const CommMatrix& matrix, const Machine& machine, const AdviceOptions& options = {});

/// The choice's schedule, made again if deciding has not made it. Empty for drs_n. Throws Error as make_schedule().
Schedule advised_schedule(const CommMatrix& matrix, const Machine& machine, const Advice& advice);

/// A table of all candidates with the reasons, for people.
std::string to_text(const Advice& advice);
/// One JSON object with everything but the schedule; docs/explanation/advise.md lists the keys.
std::string to_json(const Advice& advice);

/// S, the time to make and check a schedule, estimated from the matrix alone: 10 ns each time that planning
/// looks at a message. Throws Error invalid_argument for an unknown scheduler.
double planning_cost_s(const CommMatrix& matrix, std::string_view scheduler,
                       const Topology* topology = nullptr);

}  // namespace nuice
