// SPDX-License-Identifier: BSD-3-Clause
// Decides which of a few arms (executors, orders, MPI's own method, PETSc's basic) carries out the next
// exchange of a kind, from the times of earlier exchanges. This is pure arithmetic: the caller carries
// reports between ranks. docs/adr/0050 has the reasons.
//
//   Contest contest(3);                              // three arms, of which the first is used first
//   if (contest.needs_report()) contest.learn(the maxima over all ranks of their reports);
//   const Contest::Step step = contest.next();       // carry the exchange out with step.arm
//   if (step.is_timed && contest.add(step.arm, seconds)) begin a reduction of contest.report();
//
//   state      exchanges use                         ends with                            next state
//   resting    the arm in use, timed                 the first exchange of a round        in_round
//   in_round   the arm in use, then challengers      the last exchange of the last turn   ending
//   ending     the arm in use                        the end of the last timed exchange   reported
//   reported   the arm in use; the third exchange    learn()                              resting
//              waits for the report
//
// The first turn of a challenger is one exchange. Later turns have two or more exchanges, of which the first
// is not timed: the previous arm's effects on the network may slow it.
//
// Exchange 1 is not timed, because it makes connections and touches pages. The first round begins at exchange
// 4. The distance to the next round doubles each time, up to 256 exchanges. It is at most 15 after a change,
// and 1 if the test needs more reports (standings.hpp). When one arm is left and two reports in a row differ
// from its usual time, all arms take part again.
//
// Budget: trials may cost 5 % of the time of all exchanges so far, or of 20 exchanges if there were fewer. A
// turn that is expected to cost more is shortened or postponed. An unknown arm is expected to take 1.25 times
// the best arm's time.
//
// All ranks decide alike, because a step depends only on the exchange's number and on reports that all ranks
// have. Several exchanges may be active at a time, if all ranks begin and end them in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exchange/contest/standings.hpp"

namespace nuice::exchange {

class Contest {
 public:
  /// report_lag: a report is used this number of exchanges after it was made.
  explicit Contest(std::size_t num_arms, std::int64_t report_lag = 3);

  /// Whether learn() must be called before the next exchange begins.
  bool needs_report() const { return state_ == State::reported && number_ + 1 >= reported_at_ + report_lag_; }
  struct Step {
    std::size_t arm = 0;
    bool is_timed = false;
  };
  /// Returns the arm of the next exchange, and whether to time it. Requires !needs_report().
  Step next();
  /// Records the time of a timed exchange that has ended. Returns whether a report is due now.
  bool add(std::size_t arm, double elapsed_s);
  /// This rank's mean time per exchange for every arm; 0 for arms without times. The caller computes the
  /// maximum over all ranks.
  std::span<const double> report() const { return report_; }
  /// Accepts the maxima over all ranks of their reports. They must be the same on all ranks. Call it when
  /// needs_report() is true, and not earlier, because ranks must change arms together.
  void learn(std::span<const double> of_all);

  // The results so far. They are equal on all ranks that have learnt the same reports.
  const Standings& standings() const { return standings_; }
  /// The number of the exchange from which on the best arm has been in use.
  std::int64_t best_since() const { return best_since_; }

 private:
  enum class State : std::uint8_t { resting, in_round, ending, reported };
  struct Turn {
    std::size_t arm;
    std::int64_t exchanges;
  };
  struct Tally {
    double sum_s = 0;
    double longest_s = 0;
    int count = 0;
  };
  void begin_round();
  std::int64_t turn_length(std::size_t arm, double& left) const;
  Step next_of_round();
  void make_report();
  double cost_of_round(std::span<const double> of_all) const;
  void place_round(bool is_changed);

  std::int64_t report_lag_;
  Standings standings_;
  State state_ = State::resting;
  std::int64_t number_ = 0;  // of the exchange that began last
  std::int64_t origin_ = 0;  // exchanges up to this number are forgotten
  std::int64_t round_begin_ = 4;
  std::int64_t reported_at_ = 0;
  std::int64_t best_since_ = 1;
  double spent_ = 0;  // the cost of trials, measured in exchanges by the best arm
  int strikes_ = 0;
  int rounds_ = 0;
  int under_way_ = 0;  // timed exchanges that have not ended

  std::vector<Turn> turns_;
  std::size_t turn_ = 0;
  std::int64_t at_in_turn_ = 0;
  std::vector<Tally> tallies_;  // of this rank since the last report, by arm
  std::vector<double> report_;
};

}  // namespace nuice::exchange
