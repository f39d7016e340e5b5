// SPDX-License-Identifier: BSD-3-Clause
// Which of a few arms (executors, orders, MPI's own call, PETSc's basic) carries out the next exchange of a kind, found from the
// exchanges themselves. Pure arithmetic: how reports travel between ranks is the caller's; the tests simulate with this very code.
//
//   Contest contest({true, false});                  // of each arm whether it improves with use
//   if (contest.needs_report()) contest.learn(what all ranks reported, the maxima);
//   const Contest::Step step = contest.next();       // carry it out by step.arm
//   if (step.is_timed && contest.add(step.arm, seconds)) begin a reduction of contest.report();
//
//   state      what exchanges do                                     ends with                     next state
//   resting    by the arm in use, timed                              the exchange of the round     in_round
//   in_round   turns: the arm in use, then challengers; a first      the last turn's last          ending
//              look is one exchange, else the first of two or more   exchange has begun
//              is not timed: it pays for what another arm left behind
//   ending     by the arm in use, untimed                            all timed ones have ended     reported
//   reported   likewise; the third exchange waits for the report     learn()                       resting
//
// Exchange 1 pays for connections and pages. Rounds begin at exchange 4, so that there are three of the arm in use, and then when
// there have been twice as many, at most 256 later; after a change soon, and at once where the test needs more reports. standings.hpp says what is adopted and what is dropped. Once one arm is left only that has
// turns; where two of them running are off what was settled on, all arms are in again.
//
// Budget: trials may cost 5 % of the exchanges so far, at least of 20 (conservative bandits: Wu, Shariff, Lattimore, Szepesvari,
// ICML 2016). A turn that is expected to cost more waits. Of an arm that is unknown an exchange is expected to cost 1.25 of one by
// the best; where packets may be dropped 4, as methods that overflow a queue take 3 to 6 times as long (docs/adr/0034), until the
// first arm has become clearly faster: then the network is not what limits it. MPI's own way is always tried at once: it never costs
// more than MPI.
//
// All ranks go on alike: a step follows from its number and from what all have heard. Exchanges may be under way together, if all
// ranks begin and end them in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "exchange/contest/standings.hpp"

namespace nuice::exchange {

class Contest {
 public:
  struct Rules {
    std::int64_t report_lag = 3;  ///< Exchanges from a report to the one that waits for it.
    double budget = 0.05;         ///< What trials may cost, of all exchanges.
    bool rests = true;            ///< Whether there are exchanges between two rounds.
  };
  /// Of exchanges that serve nothing else.
  static constexpr Rules rehearsal{0, std::numeric_limits<double>::infinity(), false};

  explicit Contest(const std::vector<bool>& improves) : Contest(improves, Rules()) {}
  Contest(const std::vector<bool>& improves, const Rules& rules);

  /// Before the first exchange, on all ranks: packets may be dropped. own_way: MPI's.
  void expect_drops(std::size_t own_way);
  void begin_with(std::size_t arm) { standings_.use(arm); }

  /// Whether the next exchange cannot begin before learn().
  bool needs_report() const { return state_ == State::reported && number_ + 1 >= reported_at_ + rules_.report_lag; }
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
  /// What all ranks reported, the same on all. When needs_report(): sooner, and ranks would not change together.
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

  Rules rules_;
  Standings standings_;
  std::vector<double> loss_of_unknown_;
  State state_ = State::resting;
  std::int64_t number_ = 0;       // of the exchange that began last
  std::int64_t origin_ = 0;       // all that came before is forgotten
  std::int64_t round_begin_ = 4;
  std::int64_t reported_at_ = 0;
  std::int64_t best_since_ = 1;
  double spent_ = 0;              // exchanges that trials have cost
  int strikes_ = 0;
  int rounds_ = 0;
  int under_way_ = 0;             // timed ones

  std::vector<Turn> turns_;
  std::size_t turn_ = 0;
  std::int64_t at_in_turn_ = 0;
  std::vector<Tally> tallies_;    // of this rank
  std::vector<double> report_;
};

}  // namespace nuice::exchange
