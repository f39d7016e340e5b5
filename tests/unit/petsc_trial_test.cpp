// SPDX-License-Identifier: BSD-3-Clause
// What carries out the exchanges of a star forest (src/petsc): the arithmetic, on times that are made up.
#include "petsc/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace nuice::petsc {
namespace {

using Way = Trial::Way;

struct Times {
  double basic_s, plan_s;
  double noise = 0;  // times up to 1 + noise
};

/// A rank with a number of active exchanges; every begin is of the next, every end of the oldest.
class Rank {
 public:
  Rank(std::size_t at_a_time, Times times, unsigned seed)
      : at_a_time_(at_a_time), times_(times), random_(seed) {}

  /// One exchange more. heard: what all ranks have reported.
  void exchange(const std::vector<double>& heard) {
    if (trial.needs_report()) trial.learn(heard);
    const Trial::Step step = trial.next();
    ways.push_back(step.way);
    timed += step.is_timed ? 1 : 0;
    under_way_.push_back(step);
    if (under_way_.size() == at_a_time_) end();
  }

  Trial trial;
  std::vector<Way> ways;
  int timed = 0;
  std::vector<double> reported;  // the last report

 private:
  void end() {
    const Trial::Step step = under_way_.front();
    under_way_.pop_front();
    const double factor = 1 + times_.noise * std::uniform_real_distribution<double>()(random_);
    const double took_s = factor * (step.way == Way::basic ? times_.basic_s : times_.plan_s);
    if (!step.is_timed || !trial.add(step.way, took_s)) return;
    const auto report = trial.report();
    reported.assign(report.begin(), report.end());
  }

  std::size_t at_a_time_;
  Times times_;
  std::mt19937 random_;
  std::deque<Trial::Step> under_way_;
};

/// Two ranks; what they agree on after that many exchanges.
std::vector<Rank> run(int exchanges, std::size_t at_a_time, Times one, Times other) {
  std::vector<Rank> ranks{{at_a_time, one, 1}, {at_a_time, other, 2}};
  std::vector<double> heard;
  for (int i = 0; i < exchanges; ++i) {
    if (ranks[0].trial.needs_report()) {
      heard = ranks[0].reported;
      for (std::size_t k = 0; k < heard.size(); ++k) heard[k] = std::max(heard[k], ranks[1].reported[k]);
    }
    for (Rank& rank : ranks) rank.exchange(heard);
  }
  EXPECT_EQ(ranks[0].ways, ranks[1].ways);
  return ranks;
}

Way kept(Times one, Times other, int exchanges = 200, std::size_t at_a_time = 1) {
  const Trial trial = run(exchanges, at_a_time, one, other).front().trial;
  EXPECT_TRUE(trial.is_decided());
  return trial.kept();
}

TEST(PetscTrial, KeepsTheFasterOne) {
  EXPECT_EQ(kept({2, 1}, {2, 1}), Way::plan);
  EXPECT_EQ(kept({1, 2}, {1, 2}), Way::basic);
  EXPECT_EQ(kept({1.15, 1, 0.1}, {1.15, 1, 0.1}), Way::plan);
}

TEST(PetscTrial, KeepsBasicWhereNothingIsGained) {
  EXPECT_EQ(kept({1, 1}, {1, 1}), Way::basic);
  EXPECT_EQ(kept({1, 0.98, 0.05}, {1, 0.98, 0.05}), Way::basic);
}

TEST(PetscTrial, TheSlowestRankCounts) {
  EXPECT_EQ(kept({2, 1}, {2, 4}), Way::basic);
  EXPECT_EQ(kept({1, 2}, {4, 2}), Way::plan);
}

TEST(PetscTrial, DecidesSoonWhereOneIsFarAhead) {
  const int sufficient = 16 + 16 + 3;
  for (const Times times : {Times{3, 1, 0.2}, Times{1, 3, 0.2}}) {
    const Rank rank = run(sufficient + 1, 1, times, times).front();
    EXPECT_TRUE(rank.trial.is_decided());
    EXPECT_EQ(rank.timed, 8);
    EXPECT_EQ(std::ranges::count(rank.ways, Way::basic), 8 + (rank.trial.kept() == Way::basic ? 1 : 0));
  }
  EXPECT_FALSE(run(sufficient, 1, {3, 1}, {3, 1}).front().trial.is_decided());
}

TEST(PetscTrial, ComesToTheSameWithSeveralUnderWay) {
  for (const std::size_t at_a_time : {2U, 3U, 7U}) {
    EXPECT_EQ(kept({2, 1}, {2, 1}, 300, at_a_time), Way::plan);
    EXPECT_EQ(kept({1, 1}, {1, 1}, 300, at_a_time), Way::basic);
  }
}

TEST(PetscTrial, LeavesOutTheWorstQuarter) {
  Trial trial;
  trial.learn(std::vector<double>{1, 1, 1, 900, 2, 2, 2, 2});
  EXPECT_EQ(trial.kept(), Way::plan);
  EXPECT_DOUBLE_EQ(trial.cost_s(Way::basic), 2);
  EXPECT_DOUBLE_EQ(trial.cost_s(Way::plan), 1);
  EXPECT_EQ(trial.num_timed(), 4);
}

}  // namespace
}  // namespace nuice::petsc
