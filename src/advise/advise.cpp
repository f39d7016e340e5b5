// SPDX-License-Identifier: BSD-3-Clause
// Decides by predictions of three kinds:
//
//   rule        predicts all candidates; O(ranks + messages) in total
//   counting    applies the rule again, now to the schedule of a candidate that may win
//   simulation  predicts a candidate that may win
//
// A candidate is looked at if the look probably saves more time than it takes (search.hpp), by counting
// before simulation. Counting steps of forwarded messages, and walking through schedules where messages share
// ports only, is nearly as exact as simulation and takes less than a tenth of its time. The choice is the
// candidate whose range ends lowest. Work is counted in advance (work.hpp).
#include "nuice/plan/advise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "advise/candidates.hpp"
#include "advise/costs.hpp"
#include "advise/predict/lossless.hpp"
#include "advise/predict/rule.hpp"
#include "advise/predict/used_links.hpp"
#include "advise/predict/walk.hpp"
#include "advise/reasons.hpp"
#include "advise/work.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice {
namespace advice {
namespace {

/// The relative difference between the rule's prediction and the simulator's. Nine of ten predictions differ
/// by less (bench/run.py advise, seeds 500 to 539). If messages are forwarded, the rule is often too high:
/// nine of ten schedules of rex for 158 matrices on ethernet-10g took 0.3 to 1.4 times its time. Those of
/// bruck, whose shifts are known, took 0.6 to 1.5 times its time (229 matrices on ethernet-10g and -1g).
constexpr double rule_uncertainty = 0.57;
constexpr double forwarding_uncertainty = 0.7;

/// The same for predictions from a schedule on networks without links. That of steps of forwarded messages on
/// other networks is assumed.
constexpr double walk_uncertainty = 0.18;
constexpr double steps_uncertainty = 0.25;

/// Schedules of at most this number of pieces are kept. Larger schedules are made again whenever they are
/// needed.
constexpr double most_pieces_kept = 4e6;

/// The limits of the time for the decision. The upper limit exists because a user waits for the answer;
/// options.budget_s allows more. The lower limit is the time that the calls for making a plan take in any
/// case: about ten small collectives of 10 us on a fast network.
constexpr double most_deciding_s = 3;
constexpr double least_deciding_s = 1e-4;

/// The part of a given budget that may be spent on candidates that are unlikely to win.
constexpr double next_to_nothing = 0.1;

/// Returns the combination of two independent relative uncertainties.
double combined(double a, double b) { return std::sqrt(a * a + b * b); }

class Decision {
 public:
  Decision(const CommMatrix& matrix, const Machine& machine, const AdviceOptions& options)
      : matrix_(matrix),
        machine_(machine),
        options_(options),
        problem_(problem_of(matrix, machine, options.seed)),
        traits_(traits_of(matrix, machine.topology.get(), machine)),
        advice_(described()),
        costs_(static_cast<double>(options.reuse), advice_.bound_s, traits_) {}

  Advice make(std::vector<Entry> asked_for) {
    std::vector<Entry> refused;
    for (Entry& candidate : asked_for) {
      candidate.why_not = why_not(candidate, problem_, machine_);
      candidate.applicable = candidate.why_not.empty();
      (candidate.applicable ? candidates_ : refused).push_back(std::move(candidate));
    }
    if (candidates_.empty()) {
      throw Error(ErrorCode::not_applicable,
                  "no candidate is applicable: " + refused.front().name() + ": " + refused.front().why_not);
    }
    decide();
    return finish(refused);
  }

 private:
  /// Returns the advice without a choice.
  Advice described() const {
    Advice advice;
    advice.machine = machine_.name;
    advice.topology = machine_.topology->name();
    advice.num_ranks = matrix_.num_ranks();
    advice.num_messages = matrix_.num_messages();
    advice.total_bytes = static_cast<Bytes>(traits_.bytes);
    advice.reuse = options_.reuse;
    advice.seed = options_.seed;
    advice.port_bound_s = port_bound_s(matrix_, machine_);
    advice.link_bound_s = matrix_.num_messages() > 0 ? link_bound_s(matrix_, machine_) : 0;
    advice.bound_s = std::max(advice.port_bound_s, advice.link_bound_s);
    advice.phase_cost_bytes = problem_.phase_cost_bytes;
    advice.prefer_pairs = problem_.prefer_pairs;
    return advice;
  }

  /// Returns the time of the busiest link's bytes alone.
  double busiest_link_s() const {
    const double message_s =
        machine_.send_overhead_s + machine_.start_up_s + machine_.latency_s + machine_.receive_overhead_s;
    return std::max(0.0, advice_.link_bound_s - message_s);
  }

  void decide() {
    for (Entry& candidate : candidates_) predict_by_rule(candidate);
    spend(rule_work_s(traits_, static_cast<double>(candidates_.size())));
    sort(candidates_);
    if (options_.predict_by) {
      advice_.decided_by = *options_.predict_by;
      if (advice_.decided_by == Prediction::rule) return;
      for (Entry& candidate : candidates_) simulate_one(candidate);
      return;
    }
    budget_s_ = options_.budget_s.value_or(most_deciding_s);
    if (matrix_.num_messages() == 0) return;
    while (const std::optional<Look> next = next_look()) look(*next);
    const bool closer = looked_closer();
    std::ranges::stable_sort(candidates_, std::less{}, [&](const Entry& c) {
      return closer ? Costs::at_worst_s(c) : by_rule_alone_s(c);
    });
  }

  /// Returns the cost by which candidates are compared that are known equally well. On lossless machines the
  /// rule does not know that packets of forwarded messages wait for each other in every phase.
  double by_rule_alone_s(const Entry& c) const {
    return machine_.lossless && c.forwards() ? Costs::at_worst_s(c) : c.total_s;
  }

  /// Whether some candidate's prediction is closer than the rule's closed form.
  bool looked_closer() const {
    return std::ranges::any_of(candidates_, [](const Entry& c) { return c.doubt < rule_uncertainty; });
  }

  void predict_by_rule(Entry& candidate) {
    candidate.planning_s = planning_on_s(candidate.planner, traits_, machine_);
    const bool carries_unknown = candidate.forwards() && candidate.planner->radices == nullptr;
    set_rule(candidate, rule_of(candidate), carries_unknown ? forwarding_uncertainty : rule_uncertainty);
  }

  Estimate rule_of(const Entry& candidate) const {
    if (candidate.planner == nullptr || candidate.planner->straight_above == nullptr ||
        matrix_.num_messages() == 0)
      return rule(candidate, traits_, machine_, busiest_link_s());
    const Bytes most = candidate.planner->straight_above(problem_.phase_cost_bytes);
    const auto part = [&](const Sizes& sizes) {
      return traits_of(matrix_, machine_.topology.get(), machine_, sizes);
    };
    return rule_of_parts(candidate, part({.most = most}), part({.least = most + 1}), machine_,
                         busiest_link_s());
  }

  void set_rule(Entry& candidate, const Estimate& estimate, double uncertainty) const {
    candidate.phases = static_cast<PhaseId>(std::min(estimate.phases, 4e9));
    candidate.phase_bytes = static_cast<Bytes>(estimate.phase_bytes);
    candidate.possible_s = estimate.possible_s;
    candidate.no_timeout = no_timeout_of_rule(candidate);
    candidate.doubt = uncertainty;
    set_exchange(candidate, Prediction::rule, estimate.exchange_s,
                 estimate.possible_s > 0 ? timeout_uncertainty : uncertainty);
  }

  /// A closer prediction of a candidate.
  struct Look {
    Entry* candidate;
    bool counts;  // whether the rule is applied to the schedule, or else the exchange simulated
  };

  void look(const Look& look) {
    Entry& candidate = *look.candidate;
    if (look.counts) {
      count(candidate);
    } else if (candidate.planner != nullptr && !candidate.transfers) {
      make(candidate);  // only now is it known whether there is time to simulate it
    } else {
      simulate_one(candidate);
      advice_.decided_by = Prediction::simulation;
    }
  }

  /// Returns the next look; empty if no look is worth its time.
  std::optional<Look> next_look() {
    const Entry& safest = *std::ranges::min_element(candidates_, std::less{}, Costs::at_worst_s);
    const double best_s = Costs::at_worst_s(safest);
    const double known_s = known_to_take_s(safest);
    std::optional<Look> next;
    double first_s = std::numeric_limits<double>::infinity();
    for (Entry& candidate : candidates_) {
      if (candidate.is_simulated || !costs_.can_win(candidate, best_s)) continue;
      const bool counts = can_count(candidate);
      const double work = counts ? counting_work_s(candidate) : work_s(candidate);
      const double most = counts ? counting_work_s(candidate, most_walks) : work;
      const double spent_s = advice_.deciding_s + work;
      const double value_s = costs_.reservation_s(candidate, work);
      const bool is_free_look = is_free(spent_s, counts, Costs::may_win(candidate, best_s));
      if (advice_.deciding_s + most > budget_s_ || (!is_free_look && value_s >= known_s) ||
          value_s >= first_s)
        continue;
      next = {&candidate, counts};
      first_s = value_s;
    }
    return next;
  }

  /// Whether a look need not save the time that the decision has then taken. options.budget_s is given, but
  /// for unlikely candidates only a tenth of it. Without it, counting within the lower limit is free.
  bool is_free(double spent_s, bool counts, bool may_win) const {
    if (options_.budget_s) return spent_s <= (may_win ? 1 : next_to_nothing) * *options_.budget_s;
    return may_win && counts && spent_s <= least_deciding_s;
  }

  /// Returns the cost of the best candidate so far, without the time to make a schedule that is made. On
  /// lossless machines the rule errs alike for all candidates, so its prediction itself is compared.
  double known_to_take_s(const Entry& safest) const {
    const bool errs_alike = machine_.lossless && safest.doubt >= rule_uncertainty;
    const double cost_s = errs_alike ? safest.total_s : Costs::at_worst_s(safest);
    return schedules_.contains(safest.planner) ? cost_s - costs_.making_share_s(safest) : cost_s;
  }

  /// Predicts a candidate from its schedule. The rule's closed forms do not know how much the forwarding
  /// ranks carry, nor which messages meet at a rank.
  void count(Entry& candidate) {
    spend(counting_work_s(candidate));
    const std::shared_ptr<const Schedule> schedule = schedule_of(*candidate.planner);
    candidate.transfers = schedule->num_transfers();
    if (candidate.forwards() && shares_more_than_ports()) {
      set_rule(candidate, rule_of_steps(*schedule, traits_, machine_),
               machine_.lossless ? rule_uncertainty : steps_uncertainty);
    } else {
      const bool at_once = candidate.runner->pace == Pace::at_once;
      const Estimate walked = rule_of_phases(*schedule, at_once, traits_, machine_);
      spend((walked.walks - 1) * walk_work_s(traits_, at_once));
      set_rule(candidate, walked, walk_uncertainty);
      note_timeouts(candidate, walked, machine_);
    }
    candidate.is_counted = true;
  }

  /// Whether messages share links, a port for both directions or the buffers of lossless switches, which a
  /// walk does not know.
  bool shares_more_than_ports() const {
    return machine_.topology->num_links() > 0 || machine_.duplex != Duplex::full || machine_.lossless;
  }

  bool can_count(const Entry& candidate) const {
    if (candidate.is_counted || candidate.planner == nullptr) return false;
    if (candidate.forwards()) return true;
    if (candidate.runner->pace == Pace::at_once)
      return !shares_more_than_ports() && machine_.receives_at_once == 0 && machine_.loss_most_sending == 0;
    return candidate.runner->pace == Pace::phases && (candidate.planner->guarantees & one_port) != 0 &&
           machine_.duplex == Duplex::full && (!shares_more_than_ports() || candidate.possible_s > 0);
  }

  double counting_work_s(const Entry& candidate, int walks = 1) const {
    const bool made = schedules_.contains(candidate.planner);
    const bool walk = !candidate.forwards() || !shares_more_than_ports();
    const bool at_once = candidate.runner->pace == Pace::at_once;
    return (made ? 0 : making_s(*candidate.planner, traits_)) +
           (walk ? walks * walk_work_s(traits_, at_once) : 0);
  }

  void set_exchange(Candidate& candidate, Prediction by, double seconds, double uncertainty) const {
    candidate.predicted_by = by;
    candidate.exchange_s = seconds;
    candidate.total_s = candidate.planning_s / static_cast<double>(options_.reuse) + seconds;
    candidate.to_bound = advice_.bound_s > 0 ? seconds / advice_.bound_s : 0;
    candidate.uncertainty = combined(uncertainty, options_.machine_uncertainty);
  }

  /// Predicts the exchange again with a simulator. The rule's prediction is kept for executors with
  /// notifications on networks that may lose packets, which no simulator supports, and for a DRS_N that is
  /// refused too often.
  void simulate_one(Entry& candidate) {
    spend(work_s(candidate));
    candidate.is_simulated = true;
    candidate.doubt = 0;
    candidate.possible_s = candidate.risk_s = 0;
    if (matrix_.num_messages() == 0) return;
    const auto found = [&](double seconds) { set_exchange(candidate, Prediction::simulation, seconds, 0); };
    if (candidate.planner == nullptr) {
      try {
        found(simulate_drs_n(matrix_, machine_, {.seed = options_.seed}).seconds);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::limit) throw;  // refused without end: the rule stands
      }
      return;
    }
    const std::shared_ptr<const Schedule> made = schedule_of(*candidate.planner);
    const Schedule& schedule = *made;
    candidate.transfers = schedule.num_transfers();
    candidate.phases = schedule.num_phases();
    candidate.phase_bytes = nuice::phase_bytes(schedule);
    if (machine_.lossless) {
      found(packets_s(matrix_, schedule, machine_, candidate.executor, options_));
    } else if (candidate.runner->is_simulated()) {
      const SimulationOptions how{.executor = candidate.executor, .blocking_sends = false};
      found(simulate(matrix_, schedule, machine_, how).seconds);
    }
  }

  void make(Entry& candidate) {
    if (!schedules_.contains(candidate.planner)) spend(making_s(*candidate.planner, traits_));
    candidate.transfers = schedule_of(*candidate.planner)->num_transfers();
  }

  std::shared_ptr<const Schedule> schedule_of(const Scheduler& scheduler) {
    if (const auto kept = schedules_.find(&scheduler); kept != schedules_.end()) return kept->second;
    auto made = std::make_shared<const Schedule>((*scheduler.make)(problem_));
    if (static_cast<double>(made->num_pieces()) <= most_pieces_kept) schedules_[&scheduler] = made;
    return made;
  }

  /// Returns the work of simulating the candidate, and of making its schedule if this was not kept. A
  /// schedule that is not yet made is assumed to have one transfer per message, although some schedulers
  /// split messages, and others send many messages in one transfer.
  double work_s(const Entry& candidate) const {
    const double transfers =
        candidate.transfers ? static_cast<double>(*candidate.transfers) : traits_.messages;
    const bool at_once = candidate.runner->pace == Pace::at_once;
    if (candidate.planner == nullptr)
      return fluid_work_s(traits_, transfers, machine_, at_once) +
             refusals_work_s(traits_, machine_, candidate.exchange_s);
    const bool made = schedules_.contains(candidate.planner);
    const double make_s = made ? 0 : making_s(*candidate.planner, traits_);  // here, not on the machine
    if (machine_.lossless) return make_s + packets_work_s(traits_, machine_);
    return make_s + fluid_work_s(traits_, transfers, machine_, at_once);
  }

  void spend(double seconds) { advice_.deciding_s += seconds; }

  /// Sorts by cost. Of equal costs, the fewest phases come first: with more, ranks wait for more partners.
  static void sort(std::vector<Entry>& candidates) {
    std::ranges::stable_sort(candidates, std::less{}, [](const Entry& c) {
      const bool fewest = c.planner != nullptr && (c.planner->guarantees & fewest_phases) != 0;
      return std::pair(c.total_s, !fewest);
    });
  }

  Advice finish(const std::vector<Entry>& refused) {
    if (options_.predict_by) sort(candidates_);
    advice_.budget_s = options_.predict_by ? 0 : budget_s_;
    if (const auto kept = schedules_.find(candidates_.front().planner); kept != schedules_.end())
      advice_.schedule = kept->second;
    advice_.candidates.assign(candidates_.begin(), candidates_.end());
    advice_.candidates.insert(advice_.candidates.end(), refused.begin(), refused.end());
    explain(advice_);
    if (machine_.routing == Routing::spray)
      advice_.sentence +=
          " Routes are adaptive: packets go round busy links, so no order gains by keeping links free.";
    return std::move(advice_);
  }

  const CommMatrix& matrix_;
  const Machine& machine_;
  const AdviceOptions& options_;
  Problem problem_;
  Traits traits_;
  Advice advice_;
  Costs costs_;
  std::vector<Entry> candidates_;
  std::map<const Scheduler*, std::shared_ptr<const Schedule>> schedules_;
  double budget_s_ = 0;
};

void require_options(const AdviceOptions& options) {
  const auto fail = [](const std::string& reason) { throw Error(ErrorCode::invalid_argument, reason); };
  if (options.reuse < 1) fail("a plan is used at least once: reuse is 0");
  if (options.budget_s && !(*options.budget_s >= 0))
    fail("the budget for deciding is negative or not a number");
  if (!(options.machine_uncertainty >= 0)) fail("the machine's uncertainty is negative or not a number");
}

}  // namespace
}  // namespace advice

Advice advise(const CommMatrix& matrix, const Machine& machine, const AdviceOptions& options) {
  advice::require_options(options);
  require_valid(machine);
  std::vector<advice::Entry> candidates =
      advice::candidates_of(options, machine);  // wrong names stop us here
  if (const std::string reason = why_too_small(*machine.topology, matrix.num_ranks()); !reason.empty()) {
    throw Error(ErrorCode::mismatch, "machine " + machine.name + ": " + reason);
  }
  Machine seen = machine;
  seen.topology = advice::with_used_links(machine.topology, matrix.num_ranks());
  return advice::Decision(matrix, seen, options).make(std::move(candidates));
}

}  // namespace nuice
