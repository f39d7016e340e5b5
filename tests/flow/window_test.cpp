// SPDX-License-Identifier: BSD-3-Clause
// The window of a port, by scripted arrivals and in front of a simulated port.
#include "flow/window.hpp"

#include <gtest/gtest.h>

#include "flow/port.hpp"

namespace nuice::flow {
namespace {

constexpr std::int64_t segment = 1448;

/// In one millisecond, at 100 MB/s.
Report report_of(std::int64_t segments, std::int64_t lost) {
  return {.busy_s = 1e-3,
          .bytes = segments * segment,
          .segments = segments,
          .lost_segments = lost,
          .round_trip_s = 1e-4,
          .num_senders = 8};
}

TEST(FlowWindow, IsUnlimitedWithoutLosses) {
  Window window;
  for (int i = 0; i < 1000; ++i) window.add(report_of(70, 0));
  EXPECT_FALSE(window.is_limited());
  EXPECT_EQ(window.share_bytes(8, segment), Window::unlimited);
}

TEST(FlowWindow, ToleratesOneLossInTwoHundred) {
  Window window;
  for (int i = 0; i < 100; ++i) window.add(report_of(1000, 5));
  EXPECT_FALSE(window.is_limited());
  window.add(report_of(1000, 6));
  EXPECT_TRUE(window.is_limited());
}

TEST(FlowWindow, JudgesAFewLossesAtOnce) {
  Window window;
  window.add(report_of(10, 3));
  EXPECT_TRUE(window.is_limited());
}

TEST(FlowWindow, BeginsWithTwiceRateTimesRoundTrip) {
  Window window;
  for (int i = 0; i < 10; ++i) window.add(report_of(400, 0));
  window.add(report_of(400, 40));
  const double bdp = 400 * segment / 1e-3 * 1e-4;
  EXPECT_NEAR(static_cast<double>(window.bytes()), 2 * bdp, segment);
}

TEST(FlowWindow, ShrinksWithEachLossButNoSenderHasLessThanTwoPackets) {
  Window window;
  for (int i = 0; i < 10; ++i) window.add(report_of(4000, 0));
  window.add(report_of(400, 40));
  const std::int64_t first = window.bytes();
  for (int i = 0; i < 2; ++i)
    window.add(report_of(400, 40));  // what the first loss is judged by, and the next one
  EXPECT_NEAR(static_cast<double>(window.bytes()), 0.7 * static_cast<double>(first), 2);
  while (window.share_bytes(8, segment) > 2 * segment) window.add(report_of(400, 40));
  EXPECT_EQ(window.share_bytes(1000, segment), 2 * segment);
}

TEST(FlowWindow, ACrowdHasOnePacketEachAndTwoAgainWhenThatLosesNothing) {
  Window window;
  for (int i = 0; i < 20; ++i) window.add(report_of(400, 40));
  EXPECT_EQ(window.share_bytes(8, segment), segment);
  EXPECT_EQ(window.least_share_bytes(segment), segment);
  for (int i = 0; i < 2000 && window.share_bytes(8, segment) == segment; ++i) window.add(report_of(400, 0));
  EXPECT_EQ(window.share_bytes(8, segment), 2 * segment);  // a try
  window.add(report_of(400, 40));
  EXPECT_EQ(window.share_bytes(8, segment), segment);
  for (int i = 0; i < 4000 && window.share_bytes(8, segment) == segment; ++i) window.add(report_of(400, 0));
  for (int i = 0; i < 4; ++i) window.add(report_of(500, 0));  // the rate grows
  EXPECT_GE(window.share_bytes(8, segment), 2 * segment);
}

TEST(FlowWindow, SharesAreWholePackets) {
  Window window;
  for (int i = 0; i < 10; ++i) window.add(report_of(400, 0));
  window.add(report_of(400, 40));
  for (int senders = 1; senders < 100; ++senders)
    EXPECT_EQ(window.share_bytes(senders, segment) % segment, 0);
}

TEST(FlowWindow, KeepsALargerWindowOnlyIfTheRateGrows) {
  Window still;
  still.add(report_of(400, 40));
  const std::int64_t first = still.bytes();
  for (int i = 0; i < 500; ++i) still.add(report_of(400, 0));
  EXPECT_LE(still.bytes(), 3 * std::max(first, 16 * segment) / 2);  // the largest that is tried now and then
  Window growing;
  growing.add(report_of(400, 40));
  std::int64_t rate = 400;
  for (int i = 0; i < 100; ++i) growing.add(report_of(rate = std::min<std::int64_t>(rate * 5 / 4, 40000), 0));
  EXPECT_GT(growing.bytes(), 10 * first);
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

/// Where two packets of each sender fit the queue.
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
  port.run(1.5, &window);  // it is found
  EXPECT_TRUE(window.is_limited());
  const std::int64_t dropped = port.dropped();
  const double used = port.run(1, &window);
  EXPECT_GE(used, 0.95) << cell;
  EXPECT_LE(static_cast<double>(port.dropped() - dropped), 0.01 * rate / segment) << cell;
}

TEST_P(FlowWindowBeforePort, ADeepQueueNeverMeetsIt) {
  const Cell cell = GetParam();
  const double rate = cell.mbit_per_s * 1e6 / 8;
  test::PortSettings settings{
      .bytes_per_s = rate, .round_trip_s = 1e-6 * cell.round_trip_us, .num_senders = cell.senders};
  settings.queue_bytes = 1e9;
  Window window;
  test::Port port(settings);
  port.run(0.5, &window);
  EXPECT_FALSE(window.is_limited());
}

INSTANTIATE_TEST_SUITE_P(Networks, FlowWindowBeforePort,
                         testing::Values(Cell{20, 100, 0.5, 8}, Cell{50, 200, 1, 8}, Cell{100, 50, 1, 4},
                                         Cell{400, 100, 2, 4}, Cell{1000, 100, 1, 16},
                                         Cell{1000, 500, 0.5, 8}, Cell{4000, 50, 4, 8}));

TEST(FlowWindow, FollowsAPortThatGetsSlowerAndFasterAgain) {
  test::PortSettings settings{.bytes_per_s = 50e6,
                              .round_trip_s = 2e-4,
                              .queue_bytes = 40 * segment,
                              .num_senders = 8,
                              .natural_bytes = 12 * segment};
  Window window;
  test::Port port(settings);
  port.run(1, &window);
  EXPECT_TRUE(window.is_limited());
  port.change_rate(10e6);
  port.run(0.3, &window);
  EXPECT_GE(port.run(0.5, &window), 0.9);
  port.change_rate(50e6);
  port.run(0.05, &window);
  EXPECT_GE(port.run(0.5, &window), 0.9);
}

}  // namespace
}  // namespace nuice::flow
