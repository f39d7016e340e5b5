// SPDX-License-Identifier: BSD-3-Clause
// Tests of a port's window with scripted reports, and with a simulated port.
#include "flow/window.hpp"

#include <gtest/gtest.h>

#include <random>

#include "flow/port.hpp"

namespace nuice::flow {
namespace {

constexpr std::int64_t segment = 1448;

/// Returns a report of one millisecond, in which 400 segments are 579 MB/s.
Report report_of(std::int64_t segments, std::int64_t lost) {
  return {.timed_s = 1e-3,
          .timed_segments = segments,
          .segments = segments,
          .lost_segments = lost,
          .segment_bytes = segment,
          .round_trip_s = 1e-4,
          .num_senders = 8};
}

Report after_a_pause(std::int64_t segments) {
  Report report = report_of(segments, 0);
  report.timed_s = 0;
  report.timed_segments = 0;
  return report;
}

/// Returns the bytes that come at this rate in 1.2 ms: one millisecond and two round trips.
double enough_of(std::int64_t segments_per_ms) {
  return 1.2 * static_cast<double>(segments_per_ms * segment);
}

std::int64_t share(const Window& window) { return window.share_bytes(8, segment); }

TEST(FlowWindow, BeginsWithTwoPacketsForEachSender) {
  const Window window;
  EXPECT_EQ(share(window), 2 * segment);
}

TEST(FlowWindow, DoublesWithoutLossesUntilThereIsNoBound) {
  Window window;
  std::int64_t before = 2 * segment;
  for (int i = 0; i < 100 && window.is_limited(); ++i) {
    EXPECT_LE(share(window), 2 * before);
    before = share(window);
    window.add(report_of(4000, 0));
  }
  EXPECT_FALSE(window.is_limited());
  EXPECT_EQ(share(window), Window::unlimited);
}

TEST(FlowWindow, DoublesOnlyWhenSoMuchHasCome) {
  Window window;
  for (int i = 0; i < 15; ++i) window.add(after_a_pause(1));
  EXPECT_EQ(share(window), 4 * segment);  // after the first report
  window.add(after_a_pause(18));
  EXPECT_EQ(share(window), 8 * segment);
}

TEST(FlowWindow, APortWhoseRateIsKnownHasNoMoreThanWhatIsEnough) {
  Window window;
  for (int i = 0; i < 1000; ++i) {
    window.add(report_of(70, 0));
    EXPECT_LE(window.bytes(), static_cast<std::int64_t>(2 * enough_of(70)));
  }
  EXPECT_EQ(window.bytes(), static_cast<std::int64_t>(enough_of(70)));
}

TEST(FlowWindow, OpensFurtherThanASlowBeginningAsks) {
  Window window;
  for (int i = 0; i < 40; ++i) window.add(report_of(3, 0));
  for (int i = 0; i < 200; ++i) window.add(report_of(70, 0));
  EXPECT_EQ(window.bytes(), static_cast<std::int64_t>(enough_of(70)));
}

TEST(FlowWindow, ABoundThatComesLateHoldsToo) {
  Window window;
  for (int i = 0; i < 1000; ++i) window.add(after_a_pause(70));
  ASSERT_FALSE(window.is_limited());
  for (int i = 0; i < 100; ++i) window.add(report_of(70, 0));
  EXPECT_EQ(window.bytes(), static_cast<std::int64_t>(enough_of(70)));
}

TEST(FlowWindow, APauseIsNoTime) {
  Window window;
  for (int i = 0; i < 1000; ++i) {
    window.add(after_a_pause(70));  // the rate stays unknown
  }
  EXPECT_FALSE(window.is_limited());
}

TEST(FlowWindow, ToleratesOneLossInAHundred) {
  Window window;
  for (int i = 0; i < 100; ++i)
    window.add(report_of(1000, 5));  // of two packets in flight, the loss of the first puts one out of order
  EXPECT_FALSE(window.is_limited());
  for (int i = 0; i < 8; ++i)
    window.add(report_of(1000, 101));  // each loss puts up to ten of a large window out of order
  EXPECT_TRUE(window.is_limited());
}

TEST(FlowWindow, TheFirstLossesHalveAndFurtherOnesShrinkItButNoSenderHasLessThanTwoPackets) {
  Window window;
  while (window.bytes() < 60 * segment) window.add(report_of(60, 0));
  const std::int64_t before = window.bytes();
  window.add(report_of(400, 40));
  EXPECT_EQ(window.bytes(), before / 2);
  window.add(report_of(400, 40));  // these were in flight before
  EXPECT_EQ(window.bytes(), before / 2);
  window.add(report_of(400, 40));
  EXPECT_NEAR(static_cast<double>(window.bytes()), 0.35 * static_cast<double>(before), 2);
  for (int i = 0; i < 4; ++i) window.add(report_of(400, 40));
  EXPECT_EQ(share(window), 2 * segment);
}

TEST(FlowWindow, ACrowdHasLessThanTwoPacketsEachUntilNothingIsLost) {
  Window window;
  for (int i = 0; i < 40; ++i) window.add(report_of(400, 40));
  EXPECT_EQ(share(window), segment);
  for (int i = 0; i < 1000 && share(window) == segment; ++i) window.add(report_of(200, 0));
  EXPECT_EQ(share(window), 3 * segment / 2);  // a larger window is tried
  for (int i = 0; i < 1000 && share(window) < 2 * segment; ++i) window.add(report_of(200, 0));
  EXPECT_EQ(share(window), 2 * segment);
  window.add(report_of(400, 40));
  EXPECT_EQ(share(window), 3 * segment / 2);
  for (int i = 0; i < 10000 && share(window) < 2 * segment; ++i) window.add(report_of(200, 0));
  for (int i = 0; i < 4; ++i) window.add(report_of(500, 0));  // the rate grows
  EXPECT_GE(share(window), 2 * segment);
}

TEST(FlowWindow, FewSendersAreNoCrowd) {
  Window window;
  for (int i = 0; i < 100; ++i) {
    Report report = report_of(400, 40);
    report.num_senders = 3;
    window.add(report);
  }
  EXPECT_EQ(window.share_bytes(3, segment), 3 * segment);  // of the 16 KiB that any queue holds
}

TEST(FlowWindow, SharesAreWholePackets) {
  Window window;
  for (int i = 0; i < 1000; ++i) window.add(report_of(70, 0));
  for (int senders = 1; senders < 100; ++senders) {
    const std::int64_t part = window.share_bytes(senders, segment);
    EXPECT_EQ(part % segment, 0);
    if (part > 2 * segment) {
      EXPECT_LE(senders * part, window.bytes());
    }
  }
}

TEST(FlowWindow, KeepsALargerWindowOnlyIfNothingIsLost) {
  Window lossy;
  for (int i = 0; i < 8; ++i) lossy.add(report_of(400, 40));
  const std::int64_t first = share(lossy);
  int tries = 0;
  for (int i = 0; i < 2000; ++i) {
    const bool is_larger = share(lossy) > first;
    tries += is_larger ? 1 : 0;
    EXPECT_LE(share(lossy), 3 * first / 2);
    lossy.add(report_of(400, is_larger ? 40 : 0));
  }
  EXPECT_GE(tries, 3);
  EXPECT_LE(tries, 10);  // tries become rare
  Window clean;
  for (int i = 0; i < 8; ++i) clean.add(report_of(400, 40));
  for (int i = 0; i < 100; ++i) clean.add(report_of(400, 0));
  EXPECT_GE(clean.bytes(), static_cast<std::int64_t>(enough_of(400)));
}

TEST(FlowWindow, ASlowerRateIsNoReasonForASmallerWindow) {
  Window window;
  for (int i = 0; i < 1000; ++i) window.add(report_of(70, 0));
  const std::int64_t before = window.bytes();
  for (int i = 0; i < 10000; ++i) window.add(report_of(7, 0));
  EXPECT_EQ(window.bytes(), before);
}

TEST(FlowWindow, OneLossInALargeWindowPutsManyPacketsOutOfOrder) {
  Window window;
  while (window.bytes() < 8 * 16 * segment) window.add(report_of(8 * 16, 0));
  const std::int64_t before = window.bytes();
  ASSERT_EQ(before, 8 * 16 * segment);
  window.add(report_of(100, 30));  // four lost packets
  EXPECT_GE(window.bytes(), before);
  window.add(report_of(1, 1));
  EXPECT_LE(window.bytes(), before / 2);
}

TEST(FlowWindow, WhatLastsForAMillisecondIsNeverTriedWithMore) {
  Window window;
  for (int i = 0; i < 80; ++i) window.add(report_of(10, 1));
  const std::int64_t first = share(window);
  for (int i = 0; i < 10000; ++i) {
    window.add(report_of(10, 0));
    ASSERT_EQ(share(window), first) << i;
  }
}

/// Returns a report with present round trips of this share of 1.2 ms.
Report with_round_trips(double share_of_longest) {
  Report report = report_of(70, 0);
  report.sum_round_trips_s = 2 * share_of_longest * 1.2e-3;
  report.num_round_trips = 2;
  return report;
}

TEST(FlowWindow, GrowsWhileRoundTripsAreShortAndShrinksWhileTheyAreLong) {
  const auto enough = static_cast<std::int64_t>(enough_of(70));
  Window window;
  for (int i = 0; i < 1000; ++i) window.add(with_round_trips(1));
  EXPECT_EQ(window.bytes(), enough);
  for (int i = 0; i < 1000; ++i) window.add(with_round_trips(0.4));
  EXPECT_EQ(window.bytes(), 8 * enough);
  for (int i = 0; i < 1000; ++i) window.add(with_round_trips(0.6));
  EXPECT_EQ(window.bytes(), 8 * enough);
  for (int i = 0; i < 1000; ++i) window.add(with_round_trips(0.8));
  EXPECT_EQ(window.bytes(), enough);
}

TEST(FlowWindow, AQueueThatFillsEndsTheGrowthAfterOneStep) {
  const double enough = enough_of(70);
  Window window;
  for (int i = 0; i < 1000; ++i) window.add(with_round_trips(1));
  double largest = 0;
  for (int i = 0; i < 10000; ++i) {
    const double filled = static_cast<double>(window.bytes()) / enough;
    largest = std::max(largest, filled);
    window.add(with_round_trips(0.4 * filled));
  }
  EXPECT_NEAR(largest, 1.5, 0.01);
}

TEST(FlowWindow, LossesEndTheGrowthOfShortRoundTrips) {
  Window window;
  for (int i = 0; i < 2000; ++i) window.add(with_round_trips(0.4));
  const std::int64_t before = window.bytes();
  Report lossy = with_round_trips(0.4);
  lossy.lost_segments = 60;
  for (int i = 0; i < 100; ++i) window.add(lossy);
  EXPECT_LT(window.bytes(), before / 8);
}

/// No window is ever closed: after any traffic and any losses, a sender may send at least a whole packet.
TEST(FlowWindow, IsNeverClosedWhateverIsReported) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::minstd_rand draw(seed);
    Window window;
    for (int i = 0; i < 500; ++i) {
      Report report;
      report.segments = draw() % 3 == 0 ? draw() % 100000 : draw() % 100;
      report.lost_segments = draw() % 2 == 0 ? 0 : draw() % (report.segments + 1);
      report.timed_s = draw() % 2 == 0 ? 0 : 1e-5 * static_cast<double>(draw() % 2000);
      report.timed_segments = report.timed_s > 0 ? report.segments : 0;
      report.segment_bytes = draw() % 10 == 0 ? 1 + draw() % 65483 : segment;
      report.round_trip_s = draw() % 4 == 0 ? 0 : 1e-6 * static_cast<double>(draw() % 100000);
      report.num_senders = static_cast<int>(draw() % 600);
      window.add(report);
      const int senders = static_cast<int>(draw() % 2000);
      ASSERT_GE(window.share_bytes(senders, segment), segment) << "seed " << seed << ", report " << i;
    }
  }
}

struct Cell {
  double mbit_per_s;
  double round_trip_us;
  double queue_in_bdp;
  int senders;
};

std::ostream& operator<<(std::ostream& out, const Cell& cell) {
  return out << cell.mbit_per_s << " Mbit/s, " << cell.round_trip_us << " us, queue " << cell.queue_in_bdp
             << " bdp, " << cell.senders;
}

/// Ports whose queue has room for two packets of each sender.
class FlowWindowBeforePort : public testing::TestWithParam<Cell> {};

TEST_P(FlowWindowBeforePort, FillsThePortWithHardlyAnyLoss) {
  const Cell cell = GetParam();
  const double rate = cell.mbit_per_s * 1e6 / 8;
  const double bdp = rate * 1e-6 * cell.round_trip_us;
  test::PortSettings settings{
      .bytes_per_s = rate, .round_trip_s = 1e-6 * cell.round_trip_us, .num_senders = cell.senders};
  settings.queue_bytes = std::max(cell.queue_in_bdp * bdp, 2.2 * segment * cell.senders);
  settings.natural_bytes =
      static_cast<std::int64_t>(4 * (bdp + settings.queue_bytes) / cell.senders) + 4 * segment;
  Window window;
  test::Port port(settings);
  port.run(1.5, &window);  // finds the window
  const std::int64_t dropped = port.dropped();
  const double used = port.run(1, &window);
  EXPECT_GE(used, 0.95) << cell;
  EXPECT_LE(static_cast<double>(port.dropped() - dropped), 0.01 * rate / segment) << cell;
}

TEST_P(FlowWindowBeforePort, ADeepQueueHoldsNoMoreThanAMillisecond) {
  const Cell cell = GetParam();
  const double rate = cell.mbit_per_s * 1e6 / 8;
  test::PortSettings settings{
      .bytes_per_s = rate, .round_trip_s = 1e-6 * cell.round_trip_us, .num_senders = cell.senders};
  settings.queue_bytes = 1e9;
  settings.natural_bytes = 1 << 20;
  Window window;
  test::Port port(settings);
  port.run(1, &window);
  EXPECT_GE(port.run(0.5, &window), 0.95) << cell;
  EXPECT_EQ(port.dropped(), 0);
  const double most = std::max(1.3 * rate * (1e-3 + 2 * settings.round_trip_s), 2.0 * segment * cell.senders);
  if (window.is_limited()) {
    EXPECT_LE(static_cast<double>(window.bytes()), std::max(most, 16384.0)) << cell;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, FlowWindowBeforePort,
                         testing::Values(Cell{20, 100, 0.5, 8}, Cell{50, 200, 1, 8}, Cell{100, 50, 1, 4},
                                         Cell{400, 100, 2, 4}, Cell{1000, 100, 1, 16},
                                         Cell{1000, 500, 0.5, 8}, Cell{4000, 50, 4, 8}, Cell{10000, 50, 1, 8},
                                         Cell{10000, 200, 1, 64}, Cell{25000, 200, 0.5, 64},
                                         Cell{25000, 200, 4, 512}));

TEST(FlowWindow, FollowsAPortThatGetsSlowerAndFasterAgain) {
  test::PortSettings settings{.bytes_per_s = 50e6,
                              .round_trip_s = 2e-4,
                              .queue_bytes = 40 * segment,
                              .num_senders = 8,
                              .natural_bytes = 12 * segment};
  Window window;
  test::Port port(settings);
  port.run(1, &window);
  port.change_rate(10e6);
  port.run(0.3, &window);
  EXPECT_GE(port.run(0.5, &window), 0.9);
  port.change_rate(50e6);
  port.run(0.05, &window);
  EXPECT_GE(port.run(0.5, &window), 0.9);
}

TEST(FlowWindow, IsDividedByTheMostSendersOfThisAndTheLastPeriod) {
  MostSenders senders;
  EXPECT_EQ(senders.value(), 1);
  EXPECT_EQ(senders.add(0), 1);
  EXPECT_EQ(senders.add(8), 8);
  for (int i = 2; i < 2 * MostSenders::looks_of_a_period - 1; ++i)
    EXPECT_EQ(senders.add(3), 8) << "at look " << i;
  EXPECT_EQ(senders.add(3), 3);
  EXPECT_EQ(senders.add(9), 9);
}

}  // namespace
}  // namespace nuice::flow
