// SPDX-License-Identifier: BSD-3-Clause
// Contests simulated, on one rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exchange/contest/contest.hpp"
#include "support/contest_cases.hpp"

namespace nuice::test {

/// As an exchange of `auto` uses it.
class SimulatedContest {
 public:
  explicit SimulatedContest(const ContestCase& which) : contest_(which.arms.size()) {}
  std::size_t next() {
    if (contest_.needs_report()) contest_.learn(heard_);
    step_ = contest_.next();
    return step_.arm;
  }
  void add(double elapsed_s) {
    if (step_.is_timed && contest_.add(step_.arm, elapsed_s))
      heard_.assign(contest_.report().begin(), contest_.report().end());
  }
  std::size_t best() const { return contest_.standings().best(); }
  std::int64_t best_since() const { return contest_.best_since(); }

 private:
  exchange::Contest contest_;
  exchange::Contest::Step step_;
  std::vector<double> heard_;
};

struct Outcome {
  double first_over_mpi = 0, worst_over_mpi = 0, over_best = 0, wrong = 0, wrong_late = 0;
  int found = 0;
};

template <typename Rule = SimulatedContest>
Outcome outcome(const ContestCase& which, unsigned runs) {
  std::vector<double> means;
  for (const SimulatedArm& arm : which.arms) means.push_back(arm.mean_ms() * 1e-3);
  const double best_s = *std::ranges::min_element(means);
  Outcome sum;
  std::vector<double> firsts;
  std::vector<int> found;
  for (unsigned run = 0; run < runs; ++run) {
    Rule rule(which);
    SimulatedTimes times(which, run + 1), own_times(which, run + 1);
    double own_s = 0;
    for (int n = 1; n <= 20; ++n) own_s += own_times.next_s(0);
    const auto is_wrong = [&] { return means[rule.best()] >= 1.05 * best_s ? 1.0 : 0.0; };
    double elapsed_s = 0;
    for (int n = 1; n <= 2000; ++n) {
      const double took_s = times.next_s(rule.next());
      elapsed_s += took_s;
      rule.add(took_s);
      if (n == 20) firsts.push_back(elapsed_s / own_s);
      if (n == 200) sum.over_best += elapsed_s / 200 / best_s / runs;
      if (n == 200) sum.wrong += is_wrong() / runs;
    }
    sum.wrong_late += is_wrong() / runs;
    found.push_back(static_cast<int>(rule.best_since()));
  }
  std::ranges::sort(firsts);
  std::ranges::sort(found);
  for (const double first : firsts) sum.first_over_mpi += first / runs;
  sum.worst_over_mpi = firsts[firsts.size() - 1 - firsts.size() / 20];
  sum.found = found[found.size() / 2];
  return sum;
}

}  // namespace nuice::test
