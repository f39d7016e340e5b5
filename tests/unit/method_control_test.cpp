// SPDX-License-Identifier: BSD-3-Clause
// What exchanges show of the methods that carry them out: the arithmetic, on times that are made up.
#include "exchange/learn/method_control.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace nuice::exchange {
namespace {

/// Seconds of an exchange by this method, the n-th of all.
using Times = std::function<double(std::size_t method, std::int64_t n)>;

/// What was used, exchange by exchange, on one rank; the reports of `others` are combined with its own.
struct Course {
  std::vector<std::size_t> methods;
  double total_s = 0;
};

Course run(MethodControl& control, std::int64_t exchanges, const Times& times, double slower = 1) {
  Course course;
  std::vector<double> heard;
  for (std::int64_t n = 1; n <= exchanges; ++n) {
    control.begin();
    if (control.needs_report()) control.learn(heard);
    const std::size_t method = control.method();
    course.methods.push_back(method);
    const double took_s = times(method, n);
    course.total_s += took_s;
    if (control.is_timed()) control.add(took_s);
    if (control.finish()) {
      heard.assign(control.report().begin(), control.report().end());
      for (double& mean_s : heard) mean_s *= slower;  // of another rank, which all hear
    }
  }
  return course;
}

Times fixed(std::vector<double> seconds) {
  return [seconds](std::size_t method, std::int64_t) { return seconds[method]; };
}

TEST(MethodControl, FindsTheFastest) {
  for (const std::vector<double>& seconds :
       {std::vector{0.1, 0.3, 0.2}, std::vector{0.3, 0.1, 0.2}, std::vector{0.3, 0.2, 0.1},
        std::vector{2e-6, 1e-6}, std::vector{0.100, 0.090, 0.095, 0.110}}) {
    SCOPED_TRACE(testing::PrintToString(seconds));
    MethodControl control(std::vector<bool>(seconds.size(), false));
    const Course course = run(control, 4000, fixed(seconds));
    const auto fastest = static_cast<std::size_t>(std::ranges::min_element(seconds) - seconds.begin());
    EXPECT_EQ(control.best(), fastest);
    EXPECT_EQ(course.methods.back(), fastest);
  }
}

TEST(MethodControl, StaysWhereNothingIsToBeGained) {
  MethodControl control({false, false});
  const Course course = run(control, 3000, fixed({0.1, 0.0995}));
  EXPECT_EQ(control.best(), 0U);
  EXPECT_TRUE(control.is_settled());
  EXPECT_EQ(control.best_since(), 1);
  EXPECT_EQ(std::ranges::count(std::span(course.methods).last(256), 1U), 0);
}

TEST(MethodControl, SlowOnesAreTriedOnce) {
  MethodControl control({true, false, false});
  const Course course = run(control, 20, fixed({0.1, 0.4, 0.2}));
  EXPECT_EQ(std::ranges::count(course.methods, 1U), 1);
  EXPECT_EQ(std::ranges::count(course.methods, 2U), 1);
  EXPECT_NEAR(course.total_s, 18 * 0.1 + 0.4 + 0.2, 1e-9);
  EXPECT_TRUE(control.is_settled());
}

TEST(MethodControl, WhatIsFarSlowerThanAPaceIsTriedOnceHoweverShort) {
  MethodControl control({true, false, false});
  const Course course = run(control, 200, fixed({0.7e-3, 1.1e-3, 0.9e-3}));
  EXPECT_EQ(std::ranges::count(course.methods, 1U), 1);
  EXPECT_GT(std::ranges::count(course.methods, 2U), 1) << "it may have been another process's time slice";
  EXPECT_EQ(control.best(), 0U);
}

TEST(MethodControl, PutOffNothingIsTriedBeforeMostOfAShortRunIsOver) {
  for (const double rival_s : {0.5, 0.05}) {
    MethodControl control({true, false});
    control.put_off();
    const Course course = run(control, 600, fixed({0.1, rival_s}));
    EXPECT_EQ(std::ranges::count(std::span(course.methods).first(127), 1U), 0);
    EXPECT_EQ(std::ranges::count(std::span(course.methods).first(140), 1U) > 0, true);
    EXPECT_EQ(control.best(), rival_s < 0.1 ? 1U : 0U);
  }
}

/// It may do as well once, and overflow a queue the next time.
TEST(MethodControl, PutOffWhatGainsNothingIsTriedOnce) {
  MethodControl control({true, false});
  control.put_off();
  const Course course = run(control, 300, fixed({0.1, 0.105}));
  EXPECT_EQ(std::ranges::count(course.methods, 1U), 1);
  EXPECT_EQ(control.best(), 0U);
}

/// Larger windows gain, so it is not the network that limits it.
TEST(MethodControl, PutOffUntilThePaceGainsMuch) {
  MethodControl control({true, false});
  control.put_off();
  const Course course = run(control, 40, [](std::size_t method, std::int64_t n) {
    return method == 1 ? 0.01 : 0.4 / static_cast<double>(n);
  });
  const auto first = std::ranges::find(course.methods, 1U) - course.methods.begin() + 1;
  EXPECT_GT(first, 7);
  EXPECT_LT(first, 15);
  EXPECT_EQ(control.best(), 1U);
}

/// It may be far from the best, and gets no better by itself.
TEST(MethodControl, WhatFindsNoPaceIsComparedAtOnce) {
  MethodControl control({false, true});
  control.put_off();
  const Course course = run(control, 8, fixed({0.1, 0.05}));
  EXPECT_EQ(std::ranges::count(course.methods, 1U) > 0, true);
}

/// As well as the best in the first block, three times as slow in its next turn: that is its last.
TEST(MethodControl, OneGoodExchangeDoesNotKeepABadMethod) {
  MethodControl control({true, false});
  int own = 0;
  const Course course = run(control, 400, [&](std::size_t method, std::int64_t) {
    if (method == 0) return 0.1;
    return ++own == 1 ? 0.1 : 0.3;
  });
  EXPECT_EQ(control.best(), 0U);
  EXPECT_EQ(std::ranges::count(course.methods, 1U), 3);
}

/// The others were out after the first block; that it has become much faster since brings none back.
TEST(MethodControl, APaceThatIsFoundIsNoOtherNetwork) {
  MethodControl control({true, false, false});
  const Course course = run(control, 400, [](std::size_t method, std::int64_t n) {
    if (method != 0) return 0.27;
    return n <= 2 ? 0.09 : 0.045;
  });
  EXPECT_EQ(control.best(), 0U);
  EXPECT_EQ(std::ranges::count(course.methods, 1U), 1);
  EXPECT_EQ(std::ranges::count(course.methods, 2U), 1);
}

/// 0.3 s at first, 0.1 s after a dozen exchanges of its own.
TEST(MethodControl, WaitsForOneThatFindsItsPace) {
  for (const bool is_chosen : {true, false}) {
    MethodControl control(is_chosen ? std::vector{true, false} : std::vector{false, true});
    const std::size_t paced = is_chosen ? 0 : 1;
    int own = 0;
    run(control, 300, [&](std::size_t method, std::int64_t) {
      if (method != paced) return 0.15;
      return ++own <= 4 ? 0.3 : 0.1;
    });
    EXPECT_EQ(control.best(), paced);
  }
}

/// 0.08 s for its first four in a row, 0.12 s from then on; the other always 0.1 s.
TEST(MethodControl, OneThatDoesWellOnlyAtFirstIsLeftAgain) {
  MethodControl control({true, false});
  int in_a_row = 0;
  const Course course = run(control, 400, [&](std::size_t method, std::int64_t) {
    in_a_row = method == 1 ? in_a_row + 1 : 0;
    if (method == 0) return 0.1;
    return in_a_row <= 4 ? 0.08 : 0.12;
  });
  EXPECT_EQ(control.best(), 0U);
  EXPECT_EQ(course.methods.back(), 0U);
  EXPECT_LT(std::ranges::count(course.methods, 1U), 40);
}

/// The worst exchange between two blocks is not held against it.
TEST(MethodControl, OneSlowExchangeInUseIsNoReason) {
  MethodControl control({false, false});
  int own = 0;
  run(control, 400, [&](std::size_t method, std::int64_t) {
    if (method == 0) return 0.1;
    return ++own == 8 ? 5.0 : 0.08;
  });
  EXPECT_EQ(control.best(), 1U);
}

TEST(MethodControl, NoticesAnotherNetwork) {
  MethodControl control({false, false});
  run(control, 4000, [](std::size_t method, std::int64_t n) {
    const bool is_first = n < 1000;
    return method == 0 ? (is_first ? 0.1 : 0.3) : 0.2;
  });
  EXPECT_EQ(control.best(), 1U);
  EXPECT_GT(control.best_since(), 1000);
}

TEST(MethodControl, OneSlowExchangeIsNoReason) {
  MethodControl control({false, false});
  run(control, 2000,
      [](std::size_t method, std::int64_t n) { return n == 9 ? 5.0 : (method == 0 ? 0.1 : 0.12); });
  EXPECT_EQ(control.best(), 0U);
}

/// All that a rank does between reports follows from its number and what it heard.
TEST(MethodControl, RanksWithOtherTimesGoOnAlike) {
  MethodControl a({true, false, false});
  MethodControl b({true, false, false});
  std::vector<double> heard;
  for (std::int64_t n = 1; n <= 2000; ++n) {
    a.begin();
    b.begin();
    ASSERT_EQ(a.needs_report(), b.needs_report());
    if (a.needs_report()) {
      a.learn(heard);
      b.learn(heard);
    }
    ASSERT_EQ(a.method(), b.method()) << n;
    const double jitter = 1e-3 * static_cast<double>(n * 7919 % 13);
    if (a.is_timed()) a.add(0.01 + jitter);
    if (b.is_timed()) b.add(0.02 - jitter);
    const bool ends = a.finish();
    ASSERT_EQ(b.finish(), ends);
    if (!ends) continue;
    heard.assign(a.report().begin(), a.report().end());
    for (std::size_t i = 0; i < heard.size(); ++i) heard[i] = std::max(heard[i], b.report()[i]);
  }
  EXPECT_EQ(a.best(), b.best());
}

}  // namespace
}  // namespace nuice::exchange
