// SPDX-License-Identifier: BSD-3-Clause
// The adviser: says which scheduler and executor suit a matrix, a machine and a number of uses, and why the
// other candidates do not (000 s.4.1 and s.7).
//
//   const Advice advice = advise(matrix, find_machine("ethernet-10g"), {.reuse = 1000});
//   advice.choice().name()          // "coloring:async"
//   advice.sentence                 // the reason; to_text(advice) has a line for every candidate
//   const Schedule plan = advised_schedule(matrix, machine, advice);
//
// A candidate costs  total_s = planning_s / reuse + exchange_s  (S / R + C, 000 s.7). The adviser chooses the
// candidate with the lowest total. It predicts C in two ways: by a rule in closed form from the degrees and
// sizes of the matrix, or by simulation. How many candidates are simulated depends on counted work, never on a
// clock, so the same arguments give the same advice in every run and on every rank. docs/explanation/advise.md
// describes the choice and how good it is.
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

/// How an exchange time was predicted. Later enumerators are more accurate and cost more.
enum class Prediction {
  rule,        ///< In closed form from degrees and sizes; no schedule was made.
  simulation,  ///< The schedule was made and simulated.
};

std::string_view prediction_name(Prediction prediction);
/// Returns the prediction with that name ("rule"). Throws Error invalid_argument, which lists the known
/// names.
Prediction find_prediction(std::string_view name);

struct AdviceOptions {
  /// The number of uses of the plan, R. At least 1.
  std::uint64_t reuse = 100;
  /// The candidates: "SCHEDULER:EXECUTOR", or "SCHEDULER" for the executor that suits the machine. Executors
  /// are names of nuice::executors(). An executor that needs no schedule has a fixed first part
  /// ("drs_n:handshake"). Empty: all_candidates(machine).
  std::vector<std::string> candidates = {};
  std::uint64_t seed = 0;  ///< The seed of schedulers and of drs_n.
  /// If given, predicts all candidates by the rule or by simulation, at any cost. Otherwise budget_s bounds
  /// the work.
  std::optional<Prediction> predict_by = std::nullopt;
  /// The time that the decision may take, estimated from counted work. By default half of reuse times the
  /// predicted exchange time, but at least 0.1 ms (making a plan takes about as long) and at most 3 s.
  std::optional<double> budget_s = std::nullopt;
  /// The relative error of the machine's description; it widens Candidate::uncertainty. The default
  /// comes from the CM-5: nine of ten times that the papers print differ less from the simulated times
  /// (papers/docs/reproduce.md).
  double machine_uncertainty = 0.18;
};

/// The prediction for one scheduler with one executor. All times are in seconds.
struct Candidate {
  std::string scheduler;
  std::string executor;
  bool applicable = true;
  Prediction predicted_by = Prediction::rule;
  /// The number of phases: expected if predicted by the rule, otherwise counted in the schedule. 0 for
  /// drs_n, which has no phases.
  PhaseId phases = 0;
  /// The sum of the largest transfers of all phases; expected or counted, like `phases`.
  Bytes phase_bytes = 0;
  /// The time S to make and check the schedule once, from counted work and the machine's planning speed.
  double planning_s = 0;
  double exchange_s = 0;  ///< The exchange time, C.
  double total_s = 0;     ///< S / R + C.
  double to_bound = 0;    ///< exchange_s divided by Advice::bound_s; 0 if there is no bound.
  /// The relative error of exchange_s: in nine of ten cases the time is within exchange_s * (1 +-
  /// uncertainty).
  double uncertainty = 0;
  /// One sentence that says why this candidate is not chosen or not applicable; empty for the
  /// chosen candidate.
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
  double port_bound_s = 0;  ///< A lower bound on the time of any execution.
  double link_bound_s = 0;  ///< A lower bound on the time of direct executions; 0 if routes have no links.
  double bound_s = 0;       ///< The larger of both bounds.

  /// The phase cost and prefer_pairs of the schedules. A plan must use the same settings and the same seed.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  bool prefer_pairs = false;

  /// All candidates: first the choice, then the other applicable candidates by ascending total_s, then the
  /// inapplicable candidates in the given order. A candidate that was not simulated is sorted by the upper
  /// limit of its total_s.
  std::vector<Candidate> candidates;
  /// How the choice and its nearest rivals were predicted.
  Prediction decided_by = Prediction::rule;
  double deciding_s = 0;  ///< The time of the decision, estimated from counted work like planning_s.
  /// The time that the decision was allowed to take; 0 if predict_by was given.
  double budget_s = 0;
  /// The choice and its reason. The sentence says so if a better decision would have cost more than it could
  /// gain.
  std::string sentence;
  /// The schedule of the choice if the decision has made it; otherwise null.
  std::shared_ptr<const Schedule> schedule = nullptr;

  const Candidate& choice() const { return candidates.front(); }
  /// Returns how many candidates at the front have an uncertainty range that overlaps the range of the
  /// choice, including the choice.
  std::size_t num_contenders() const;
};

/// Returns the candidates that NUICE can simulate on the machine: link-free schedulers only if it has links,
/// drs_n only if it has active messages.
std::vector<std::string> all_candidates(const Machine& machine);

/// Returns the candidates that plans on MPI can carry out, whose executors have on_mpi set.
std::vector<std::string> mpi_candidates(const Machine& machine);

/// Chooses a candidate. Throws Error invalid_argument for an unknown scheduler or executor, an executor that
/// does not suit the scheduler, or an option out of range, all before any work; mismatch if the machine has
/// fewer ranks than the matrix; not_applicable if no candidate is applicable, with the reason of the first.
Advice advise(const CommMatrix& matrix, const Machine& machine, const AdviceOptions& options = {});

/// Returns the schedule of the chosen candidate, and makes it if advise() has not made it. The schedule of
/// drs_n is empty. Throws Error as make_schedule().
Schedule advised_schedule(const CommMatrix& matrix, const Machine& machine, const Advice& advice);

/// Returns a readable table of all candidates with the reasons.
std::string to_text(const Advice& advice);
/// Returns one JSON object with everything but the schedule; docs/explanation/advise.md lists the keys.
std::string to_json(const Advice& advice);

/// Estimates S, the time to make and check a schedule, from the matrix alone: 10 ns each time that planning
/// looks at a message. Throws Error invalid_argument for an unknown scheduler.
double planning_cost_s(const CommMatrix& matrix, std::string_view scheduler,
                       const Topology* topology = nullptr);

}  // namespace nuice
