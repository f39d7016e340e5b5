// SPDX-License-Identifier: BSD-3-Clause
// Whether a plan carries out the exchanges of a star forest, or basic: found from the exchanges themselves. Pure arithmetic, without
// MPI and PETSc.
//
//   the first 16   by the plan, which pays for connections and pages; `auto` tries its executors meanwhile
//   a round        turns of four exchanges: by basic, by basic and timed, by the plan, by the plan and timed. The first of two pays for
//                  what the other way has left behind (TCP senders that have lost packets stay slow for a while)
//   a report       each timed exchange's seconds, the maximum over the ranks. It is waited for three exchanges later, when
//                  it has come as a rule; so all ranks go on alike
//   the decision   after a round of 4 turns where one is far ahead, else after one of 12 more. The plan must be clearly faster
//
// Exchanges go by numbers, so all ranks that begin and end them in one order come to the same steps, however many are under way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nuice::petsc {

class Trial {
 public:
  enum class Way : std::uint8_t { plan, basic };
  struct Step {
    Way way;
    bool is_timed = false;
  };

  /// Whether the next exchange cannot begin before learn().
  bool needs_report() const { return is_reported_ && begun_ >= reported_at_ + report_lag; }
  /// Of the next exchange. Requires !needs_report().
  Step next();
  /// A timed exchange has ended. Whether it was the last of its round: then report() is due.
  bool add(Way way, double elapsed_s);
  /// This rank's times of the round, by the plan and then by basic. Combined over the ranks by the maximum.
  std::span<const double> report();
  /// What all ranks reported, the same on all.
  void learn(std::span<const double> of_all);

  bool is_decided() const { return is_decided_; }
  Way kept() const { return kept_; }
  /// Seconds of an exchange in the last round that was reported: the mean without the worst quarter. 0 before any.
  double cost_s(Way way) const { return costs_s_[index(way)]; }
  /// How many exchanges of each way these are.
  int num_timed() const { return num_timed_; }

  static constexpr std::int64_t num_first = 16;
  static constexpr std::int64_t report_lag = 3;

 private:
  static constexpr std::size_t index(Way way) { return static_cast<std::size_t>(way); }

  std::int64_t begun_ = 0;
  std::int64_t round_begin_ = num_first;  // so many exchanges come before it
  std::size_t turns_ = 4;
  std::array<std::vector<double>, 2> times_s_;
  std::vector<double> report_;
  bool is_reported_ = false;  // the round is over, its report not heard
  std::int64_t reported_at_ = 0;
  bool is_decided_ = false;
  Way kept_ = Way::plan;
  std::array<double, 2> costs_s_{};
  int num_timed_ = 0;
};

}  // namespace nuice::petsc
