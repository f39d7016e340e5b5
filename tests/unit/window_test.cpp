// SPDX-License-Identifier: BSD-3-Clause
// The window of the executor credit: its bounds, its search, and what it comes to in a simulated port.
#include "exchange/window_control.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "nuice/core/random.hpp"
#include "support/port_simulation.hpp"
#include "support/sanitized.hpp"

namespace nuice {
namespace {

using exchange::WindowBounds;
using exchange::WindowControl;

constexpr Bytes much = Bytes{1} << 24;

/// Exchanges of one rank alone whose times depend on the window, and what is lost.
void run(
    WindowControl& control, int exchanges, const std::function<double(Bytes)>& seconds,
    const std::function<double(Bytes)>& lost = [](Bytes) { return 0.0; }) {
  double now_s = 0;
  std::optional<WindowControl::Report> report;
  for (int i = 1; i <= exchanges; ++i) {
    if (report && i % WindowControl::dense_block == 0) {
      control.learn(*report);
      report.reset();
    }
    control.start(now_s);
    now_s += seconds(control.window_bytes());
    control.finish(now_s);
    if (i % WindowControl::dense_block == 1) report = control.report(lost(control.window_bytes()));
  }
}

TEST(Window, IsWhatItIsToldWhereItMayNotAdapt) {
  const WindowControl control(
      {.window_bytes = 5000, .chunk_bytes = 700, .most_bytes = much, .adapts = false});
  EXPECT_EQ(control.window_bytes(), 5000);
  EXPECT_EQ(control.first_window_bytes(), 5000);
  EXPECT_EQ(control.chunk_bytes(), 700);
}

TEST(Window, OfAHostIsShared) {
  const WindowControl whole({.most_bytes = much});
  const WindowControl quarter({.most_bytes = much, .share = 0.25});
  EXPECT_EQ(4 * quarter.window_bytes(), whole.window_bytes());
  EXPECT_EQ(quarter.window_for(1), whole.window_bytes());
  EXPECT_GE(quarter.chunk_bytes(), WindowControl::least_chunk_bytes({}));
}

TEST(Window, ThatHoldsAllAsksForNothing) {
  EXPECT_TRUE(WindowControl::holds_all({.most_bytes = exchange::least_window_bytes}));
  EXPECT_FALSE(WindowControl::holds_all({.most_bytes = exchange::least_window_bytes + 1}));
  EXPECT_FALSE(WindowControl::holds_all({.window_bytes = 10, .most_bytes = 11}));
  EXPECT_TRUE(WindowControl::holds_all({.window_bytes = 11, .most_bytes = 11, .adapts = false}));
}

TEST(Window, StaysWithinItsBoundsWhateverArrives) {
  Random random(7);
  for (const Bytes bound : {Bytes{1}, Bytes{3000}, Bytes{20000}, Bytes{100'000}}) {
    WindowControl control({.window_bytes = bound, .chunk_bytes = 2000, .most_bytes = much});
    double now_s = 0;
    for (int exchange = 0; exchange < 200; ++exchange) {
      control.start(now_s);
      for (int chunk = 0; chunk < 50; ++chunk) {
        now_s += 1e-6 * static_cast<double>(random.below(1000));
        control.land(now_s, 2000, 1e-6 * static_cast<double>(random.below(500)));
        ASSERT_LE(control.window_bytes(), bound);
        ASSERT_LE(control.chunk_bytes(), 2000);
        ASSERT_GE(control.window_after(std::min(bound, control.first_window_bytes()), chunk), 1);
      }
      control.finish(now_s);
      control.learn(control.report(0));
    }
  }
}

TEST(Window, GrowsWhileThatGains) {
  WindowControl control({.most_bytes = much});
  run(control, 90,
      [](Bytes window) { return 0.01 + 1000.0 / static_cast<double>(std::min<Bytes>(window, 100'000)); });
  EXPECT_TRUE(control.is_settled());
  EXPECT_GE(control.window_bytes(), 80'000);
  EXPECT_LE(control.window_bytes(), 160'000) << "larger gains nothing";
}

/// Of 1 to 5 ms, now and then with another process's time slice in them.
TEST(Window, OfShortExchangesGrowsAsFast) {
  WindowControl control({.most_bytes = much});
  int n = 0;
  const auto seconds = [&](Bytes window) {
    const double slice_s = ++n % 8 == 0 ? 2e-3 : 0;
    return 1e-3 + 30.0 / static_cast<double>(std::min<Bytes>(window, 200'000)) + slice_s;
  };
  run(control, 18, seconds);
  EXPECT_GE(control.window_bytes(), 100'000);
}

/// Every loss may cost 200 ms, whatever the exchange takes: no second look, each of three exchanges.
TEST(Window, OfShortExchangesThatLosesIsLeftAtOnce) {
  WindowControl control({.most_bytes = much});
  int lossy = 0;
  run(
      control, 90, [](Bytes window) { return 1e-3 + 30.0 / static_cast<double>(window); },
      [&](Bytes window) {
        const bool loses = window > 50'000;
        lossy += loses ? 1 : 0;
        return loses ? 0.05 : 0.0;
      });
  EXPECT_LE(control.window_bytes(), 50'000);
  EXPECT_EQ(lossy, 1);
}

TEST(Window, OpensWhereNothingContends) {
  WindowControl control({.chunk_bytes = much, .most_bytes = much});
  run(control, 90, [](Bytes window) { return 0.001 + 1e5 / static_cast<double>(std::min(window, much)); });
  EXPECT_EQ(control.window_bytes(), max_bytes);
  EXPECT_EQ(control.chunk_bytes(), much);
}

/// As of a port that sends a chunk of up to two packets in one go: what a larger window gains, chunks of twice as many would take away.
TEST(Window, GrowsWithoutItsChunks) {
  WindowControl control({.chunk_bytes = much, .most_bytes = Bytes{1} << 18});
  int open = 0;
  const auto seconds = [&](Bytes window) {
    open += window == max_bytes ? 1 : 0;
    const double chunks = control.chunk_bytes() > 4000 ? 1.6 : 1;
    return chunks * (1e-3 + 30.0 / static_cast<double>(std::min<Bytes>(window, 100'000)));
  };
  run(control, 72, seconds);
  EXPECT_TRUE(control.is_settled());
  EXPECT_GE(control.window_bytes(), 80'000);
  EXPECT_LE(control.window_bytes(), 160'000);
  EXPECT_LE(control.chunk_bytes(), 4000);
  EXPECT_LE(open, 3) << "one look is enough at what is so much slower";
}

TEST(Window, HasLargerChunksWhereTheyGain) {
  WindowControl control({.chunk_bytes = much, .most_bytes = much});
  const auto seconds = [&](Bytes window) {
    const double chunks = 2e7 / static_cast<double>(control.chunk_bytes());
    return 5e-3 + 1000.0 / static_cast<double>(std::min<Bytes>(window, 400'000)) + 2e-6 * chunks;
  };
  run(control, 240, seconds);
  EXPECT_TRUE(control.is_settled());
  EXPECT_GE(control.chunk_bytes(), 40'000);
  EXPECT_LE(4 * control.chunk_bytes(), control.window_bytes()) << "all senders that share it need one";
}

TEST(Window, HasChunksOfWholePackets) {
  WindowControl control({.most_bytes = much});
  run(control, 48, [](Bytes) { return 0.02; });
  EXPECT_EQ(control.window_bytes(), exchange::least_window_bytes);
  EXPECT_EQ(control.chunk_bytes(), 2 * exchange::segment_bytes - 64);
}

TEST(Window, ThatLosesIsRefusedHoweverFast) {
  WindowControl control({.most_bytes = much});
  run(
      control, 90, [](Bytes window) { return 0.01 + 1000.0 / static_cast<double>(window); },
      [](Bytes window) { return window > 50'000 ? 0.02 : 0.0; });
  EXPECT_TRUE(control.is_settled());
  EXPECT_LE(control.window_bytes(), 50'000);
  EXPECT_GE(control.window_bytes(), 28'000);
}

TEST(Window, IsLookedForAgainWhenTheNetworkChanges) {
  WindowControl control({.most_bytes = much});
  run(control, 60, [](Bytes) { return 0.02; });
  const Bytes before = control.window_bytes();
  EXPECT_TRUE(control.is_settled());
  run(control, 120,
      [](Bytes window) { return 0.05 + 2000.0 / static_cast<double>(std::min<Bytes>(window, 200'000)); });
  EXPECT_GT(control.window_bytes(), 2 * before);
}

TEST(Window, IsTheSameOnAllRanksOnceTheyHaveHeardTheSame) {
  WindowControl one({.most_bytes = much});
  WindowControl other({.most_bytes = much});
  Random random(3);
  double now_s = 0;
  for (int exchange = 0; exchange < 60; ++exchange) {
    for (WindowControl* const control : {&one, &other}) control->start(now_s);
    for (int chunk = 0; chunk < 40; ++chunk) {
      now_s += 1e-5;
      one.land(now_s, 5000, 1e-5 * static_cast<double>(1 + random.below(9)));
      if (exchange % 2 == 0) other.land(now_s, 5000, -1);
    }
    one.finish(now_s);
    other.finish(now_s + 1e-3);
    WindowControl::Report of_all = one.report(0);
    const WindowControl::Report others = other.report(0.001);
    for (std::size_t i = 0; i < of_all.size(); ++i) of_all[i] = std::max(of_all[i], others[i]);
    one.learn(of_all);
    other.learn(of_all);
    ASSERT_EQ(one.window_bytes(), other.window_bytes()) << "after exchange " << exchange;
  }
}

/// No rank tells it rate, delay or queue. From the twentieth exchange on the port is used as well as it can be.
TEST(Window, FillsASimulatedPortWhateverItsRate) {
  if (test::is_sanitized) GTEST_SKIP() << "about figures";
  for (const double gbit : {0.02, 0.1, 1.0, 10.0, 100.0}) {
    for (const double us : {20.0, 50.0, 200.0}) {
      SCOPED_TRACE(std::to_string(gbit) + " Gbit/s, " + std::to_string(us) + " us");
      const double rate = gbit * 1e9 / 8;
      const double bdp = rate * us * 1e-6;
      const Bytes each = static_cast<Bytes>(std::max(65536.0, 8 * bdp));
      const test::SimulatedPort port{rate, us * 1e-6, std::max<Bytes>(16384, static_cast<Bytes>(2 * bdp)), 8,
                                     each};
      test::PortSimulation simulation(port, {.most_bytes = 8 * each});
      std::vector<double> times;
      for (int i = 0; i < 40; ++i) times.push_back(simulation.run());
      std::vector<double> late(times.begin() + 20, times.end());
      std::ranges::sort(late);
      EXPECT_GE(simulation.bound_s() / late[late.size() / 2], 0.93);
    }
  }
}

}  // namespace
}  // namespace nuice
