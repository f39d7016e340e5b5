// SPDX-License-Identifier: BSD-3-Clause
// The adviser says which scheduler and executor suit a matrix, a machine and a number of uses, and why the
// other candidates do not suit them (000 s.4.1 and s.7).
//
//   const Advice advice = advise(matrix, find_machine("ethernet-10g"), {.reuse = 1000});
//   advice.choice().name()          // "coloring:async"
//   advice.sentence                 // the reason; to_text(advice) has a line for every candidate
//   const Schedule plan = advised_schedule(matrix, machine, advice);
//
// A candidate costs  total_s = planning_s / reuse + exchange_s  (S / R + C, 000 s.7). The adviser chooses the
// candidate with the lowest total_s. It predicts the exchange time C in two ways: by a formula from the
// degrees and sizes of the matrix (the rule), or by simulation. The number of simulated candidates depends on
// counted work, never on a clock. So the same arguments give the same advice in every run and on every rank.
// docs/explanation/advise.md describes the choice and its quality.
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

/// The method that predicted an exchange time. `simulation` is more accurate than `rule` and costs more.
enum class Prediction {
  rule,        ///< A formula predicted the time from degrees and sizes; no schedule was made.
  simulation,  ///< The schedule was made and simulated.
};

std::string_view prediction_name(Prediction prediction);
/// Returns the prediction with that name ("rule"). Throws Error with code `invalid_argument` for an unknown
/// name; the text lists the known names.
Prediction find_prediction(std::string_view name);

struct AdviceOptions {
  /// The number of uses of the plan, R. At least 1.
  std::uint64_t reuse = 100;
  /// The candidates: "SCHEDULER:EXECUTOR", or "SCHEDULER" with the executor that suits the machine. EXECUTOR
  /// is a name of nuice::executors(). If the executor needs no schedule, SCHEDULER is a fixed word
  /// ("drs_n:handshake"). If the list is empty, the candidates are all_candidates(machine).
  std::vector<std::string> candidates = {};
  std::uint64_t seed = 0;  ///< The seed of schedulers and of drs_n.
  /// If given, all candidates are predicted by this method, at any cost.
  std::optional<Prediction> predict_by = std::nullopt;
  /// The time that the decision may take, estimated from counted work. By default it takes at most 3 s, and
  /// only closer predictions that are likely to save more time in all exchanges than they take, apart from
  /// 0.1 ms (the time to make a small plan).
  std::optional<double> budget_s = std::nullopt;
  /// The relative error of the machine's description, which increases Candidate::uncertainty. The default, 18
  /// %, comes from the CM-5: nine in ten of the exchange times in 001 table 11, 003 tables 2 and 3 and 004
  /// tables 4 to 6 (messages of up to 32 KiB) differ by less than 18 % from the simulated times (nuice
  /// reproduce).
  double machine_uncertainty = 0.18;
};

/// The prediction for one scheduler with one executor. All times are in seconds.
struct Candidate {
  std::string scheduler;
  std::string executor;
  bool applicable = true;
  Prediction predicted_by = Prediction::rule;
  /// The number of phases: an estimate if predicted_by is `rule`, otherwise the number in the schedule. 0 for
  /// drs_n, which has no phases.
  PhaseId phases = 0;
  /// The sum of the largest transfers of all phases; like `phases`, an estimate or the number in the
  /// schedule.
  Bytes phase_bytes = 0;
  /// The time S to make and check the schedule once, estimated from counted work and the machine's planning
  /// speed.
  double planning_s = 0;
  double exchange_s = 0;  ///< The exchange time, C.
  double total_s = 0;     ///< S / R + C.
  double to_bound = 0;    ///< exchange_s divided by Advice::bound_s; 0 if there is no bound.
  /// The relative error of exchange_s: in nine of ten cases the true time lies within exchange_s * (1 +-
  /// uncertainty).
  double uncertainty = 0;
  /// One sentence that says why this candidate is not chosen or not applicable; empty for the chosen
  /// candidate.
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

  /// The phase cost and prefer_pairs that the schedules use. A plan that follows the advice must use the same
  /// settings and the same seed.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  bool prefer_pairs = false;

  /// All candidates: first the chosen candidate, then the other applicable candidates by ascending total_s,
  /// then the inapplicable candidates in the given order. A candidate that was not simulated is sorted by the
  /// upper limit of its total_s.
  std::vector<Candidate> candidates;
  /// `simulation` if a candidate was simulated, otherwise `rule`. Candidate::predicted_by is the method of
  /// each candidate.
  Prediction decided_by = Prediction::rule;
  double deciding_s = 0;  ///< The time that the decision took, estimated from counted work like planning_s.
  /// The time that the decision was allowed to take; 0 if predict_by was given.
  double budget_s = 0;
  /// One sentence with the choice and the reason for it. It also says if a closer prediction would have taken
  /// more time than it is likely to save.
  std::string sentence;
  /// The schedule of the chosen candidate if the decision has made this schedule; otherwise null.
  std::shared_ptr<const Schedule> schedule = nullptr;

  const Candidate& choice() const { return candidates.front(); }
  /// Returns how many candidates at the front of the list may be the fastest: the chosen candidate, and
  /// candidates whose uncertainty range overlaps its range.
  std::size_t num_contenders() const;
};

/// Returns the candidates that NUICE can simulate on the machine. Link-free schedulers are included only if
/// the machine has links, drs_n only if it has active messages.
std::vector<std::string> all_candidates(const Machine& machine);

/// Returns the candidates that plans on MPI can carry out: those whose executors have on_mpi set.
std::vector<std::string> mpi_candidates(const Machine& machine);

/// Chooses a candidate. Throws Error with code `invalid_argument`, before any work, for an unknown scheduler
/// or executor, an executor that does not suit the scheduler, or an option out of range; `mismatch` if the
/// machine has fewer ranks than the matrix; `not_applicable` if no candidate is applicable (the text has the
/// reason of the first candidate).
Advice advise(const CommMatrix& matrix, const Machine& machine, const AdviceOptions& options = {});

/// Returns the schedule of the chosen candidate; makes this schedule if advise() has not made it. The
/// schedule of drs_n is empty. Throws the errors of make_schedule().
Schedule advised_schedule(const CommMatrix& matrix, const Machine& machine, const Advice& advice);

/// Returns a readable table of all candidates with the reasons.
std::string to_text(const Advice& advice);
/// Returns one JSON object with everything but the schedule; docs/explanation/advise.md lists the keys.
std::string to_json(const Advice& advice);

/// Returns an estimate of the time to make a schedule, from the matrix alone: 10 ns each time that planning
/// looks at a message. Checking is not included. Throws Error with code `invalid_argument` for an unknown
/// scheduler.
double planning_cost_s(const CommMatrix& matrix, std::string_view scheduler,
                       const Topology* topology = nullptr);

}  // namespace nuice
