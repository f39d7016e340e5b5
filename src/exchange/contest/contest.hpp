// SPDX-License-Identifier: BSD-3-Clause
// Which of a few arms (executors, orders, MPI's own way, PETSc's basic) carries out the next exchange of a kind, found
// from the exchanges themselves. Pure arithmetic: the caller takes reports from rank to rank. docs/adr/0050 has the reasons.
//
//   Contest contest(3);                              // arms, of which the first one begins
//   if (contest.needs_report()) contest.learn(the maxima of what all ranks reported);
//   const Contest::Step step = contest.next();       // carry the exchange out by step.arm
//   if (step.is_timed && contest.add(step.arm, seconds)) begin a reduction of contest.report();
//
//   state      exchanges go                                      ends with                    next state
//   resting    by the arm in use, timed                          the first one of a round     in_round
//   in_round   by the arm in use, then by challengers            the last one of a turn       ending
//   ending     by the arm in use                                 the last timed one's end     reported
//   reported   likewise; the third one waits for the report      learn()                      resting
//
// The first look at a challenger is one exchange. Later turns have two and more, and the first is not timed: it pays for
// what another arm left behind.
//
// Exchange 1 pays for connections and pages. Rounds begin at exchange 4, after three by the arm in use, and then when there
// have been twice as many, at most 256 later; after a change soon, and at once where the test needs more reports
// (standings.hpp). Once one arm is left, all are in again when two reports in a row are off what was settled on.
//
// Budget: trials may cost 5 % of the exchanges so far, or of 20. A turn that is expected to cost more waits; an arm that is
// unknown is expected to take 1.25 of the best one's time.
//
// All ranks go on alike: a step follows from its number and from what all have heard. Several exchanges may be active, if
// all ranks begin and end them in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exchange/contest/standings.hpp"

namespace nuice::exchange {

class Contest {
 public:
  /// report_lag: exchanges from a report to the one that waits for it.
  explicit Contest(std::size_t num_arms, std::int64_t report_lag = 3);

  /// Whether the next exchange cannot begin before learn().
  bool needs_report() const { return state_ == State::reported && number_ + 1 >= reported_at_ + report_lag_; }
  struct Step {
    std::size_t arm = 0;
    bool is_timed = false;
  };
  /// Of the next exchange. Requires !needs_report().
  Step next();
  /// A timed exchange has ended. Whether a report is due now.
  bool add(std::size_t arm, double elapsed_s);
  /// This rank's times of every arm, 0 for those without. Combined over the ranks by the maximum.
  std::span<const double> report() const { return report_; }
  /// What all ranks reported, the same on all. When needs_report(), no sooner: ranks must change together.
  void learn(std::span<const double> of_all);

  // What is known. Equal on all ranks that have heard the same reports.
  const Standings& standings() const { return standings_; }
  /// The exchange since which the best arm is used.
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
  std::int64_t origin_ = 0;  // all that came before is forgotten
  std::int64_t round_begin_ = 4;
  std::int64_t reported_at_ = 0;
  std::int64_t best_since_ = 1;
  double spent_ = 0;  // exchanges that trials have cost
  int strikes_ = 0;
  int rounds_ = 0;
  int under_way_ = 0;  // timed ones

  std::vector<Turn> turns_;
  std::size_t turn_ = 0;
  std::int64_t at_in_turn_ = 0;
  std::vector<Tally> tallies_;  // of this rank
  std::vector<double> report_;
};

}  // namespace nuice::exchange
