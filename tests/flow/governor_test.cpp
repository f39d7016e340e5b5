// SPDX-License-Identifier: BSD-3-Clause
// Windows on real sockets: connections from 127.0.0.2 to 127.0.0.1, which the governor takes for two hosts.
#include "flow/governor.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "flow/pair.hpp"

namespace nuice::flow {
namespace {

TEST(FlowGovernor, KnowsConnectionsToOtherHostsOnly) {
  Governor governor;
  const Pair to_another, to_itself("127.0.0.1");
  governor.opened(to_another.receiver, false);
  governor.opened(to_itself.receiver, false);
  governor.opened(STDERR_FILENO, false);
  governor.opened(-1, false);
  governor.opened(Governor::most_descriptors, false);
  ASSERT_EQ(governor.ports().size(), 1U);
  EXPECT_EQ(governor.ports()[0].address, "127.0.0.1");
  EXPECT_EQ(governor.ports()[0].num_connections, 1);
}

TEST(FlowGovernor, AFastPortSoonHasNoBound) {
  Governor governor;
  const Pair pair;
  const int before = pair.clamp();
  governor.opened(pair.receiver, false);
  for (int i = 0; i < 20 || (i < 200 && governor.ports()[0].share_bytes != Window::unlimited); ++i)
    pair.send_and_read(governor, 1 << 20);
  EXPECT_GE(pair.clamp(), before);
  EXPECT_EQ(governor.ports()[0].share_bytes, Window::unlimited);
  EXPECT_GT(governor.ports()[0].segments, 0);
}

TEST(FlowGovernor, AConnectionThatBeganSmallGetsItsBufferBack) {
  Governor governor;
  const Pair pair;
  if (!pair.began_small) GTEST_SKIP() << "this kernel has no SO_BUF_LOCK";
  governor.opened(pair.receiver, true);
  pair.send_and_read(governor, 1 << 20);
  int buffer = 0;
  socklen_t length = sizeof buffer;
  getsockopt(pair.receiver, SOL_SOCKET, SO_RCVBUF, &buffer, &length);
  EXPECT_GE(buffer, 131072);
}

TEST(FlowGovernor, APeerCannotSendMoreThanTheWindow) {
  const Pair pair;
  Buffer buffer = Buffer::tuned;
  limit_window(pair.receiver, 2 * 1448, 0, buffer);
  EXPECT_EQ(pair.clamp(), 2 * 1448);
  free_window(pair.receiver, buffer);
  EXPECT_GT(pair.clamp(), 1 << 20);
}

int receive_buffer(const Pair& pair) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  getsockopt(pair.receiver, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return bytes;
}

/// A large one before that would let the kernel advertise all of it when the first full packets come.
TEST(FlowGovernor, TheBufferIsLargeOnlyAfterTheFirstWindow) {
  const Pair pair;
  Buffer buffer = Buffer::tuned;
  limit_window(pair.receiver, 2 * 1448, 0, buffer);
  EXPECT_EQ(receive_buffer(pair), 131072);
  limit_window(pair.receiver, 2 * 1448, first_window_bytes, buffer);
  EXPECT_GT(receive_buffer(pair), 131072);
  EXPECT_EQ(buffer, Buffer::large);
  free_window(pair.receiver, buffer);
  EXPECT_EQ(buffer, Buffer::tuned);
}

TEST(FlowGovernor, ABufferOfTheProgramStaysAsItIs) {
  const Pair pair;
  const int bytes = 20000;
  ASSERT_EQ(setsockopt(pair.receiver, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
  const int before = receive_buffer(pair);
  Buffer buffer = Buffer::tuned;
  limit_window(pair.receiver, 2 * 1448, first_window_bytes, buffer);
  EXPECT_EQ(receive_buffer(pair), before);
  EXPECT_EQ(buffer, Buffer::of_program);
  free_window(pair.receiver, buffer);
  EXPECT_EQ(buffer, Buffer::of_program);
}

TEST(FlowGovernor, QuickTimersAreSetWhereTheKernelHasThem) {
  const Pair pair;
  if (!set_quick_timers(pair.sender)) GTEST_SKIP() << "this kernel has no TCP_RTO_MIN_US";
  int us = 0;
  socklen_t length = sizeof us;
  ASSERT_EQ(getsockopt(pair.sender, IPPROTO_TCP, 45, &us, &length), 0);
  EXPECT_NEAR(us, 12000, 4000);
}

TEST(FlowGovernor, ForgetsWhatIsClosedAndCountsItStill) {
  Governor governor;
  for (int i = 0; i < 10; ++i) {
    const Pair pair;
    governor.opened(pair.receiver, false);
    pair.send_and_read(governor, 1000);
    governor.closed(pair.receiver);
    governor.closed(pair.receiver);
    governor.arrived(pair.receiver, 1000);  // a read that ended late
  }
  governor.look();
  EXPECT_EQ(governor.ports()[0].num_connections, 10);
  EXPECT_EQ(governor.ports()[0].num_active, 0);
}

TEST(FlowGovernor, ADescriptorMayBeUsedAgainWithoutACloseThatWasSeen) {
  Governor governor;
  Pair first;
  governor.opened(first.receiver, false);
  close(first.receiver);
  const Pair second;
  governor.opened(second.receiver, false);
  second.send_and_read(governor, 100000);
  if (second.receiver == first.receiver) first.receiver = -1;
  EXPECT_EQ(governor.ports()[0].num_connections, 2);
}

TEST(FlowGovernor, ManyThreadsReadOpenAndClose) {
  Governor governor;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const Pair pair;
        governor.opened(pair.receiver, pair.began_small);
        pair.send_and_read(governor, 200000);
        governor.look();
        governor.closed(pair.receiver);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(governor.ports()[0].num_connections, 40);
}

TEST(FlowGovernor, DoesNothingAfterItWasStopped) {
  Governor governor;
  const Pair pair;
  governor.opened(pair.receiver, false);
  governor.stop();
  governor.stop();
  governor.arrived(pair.receiver, 100);
  governor.look();
  const Pair later;
  governor.opened(later.receiver, false);
  EXPECT_EQ(governor.ports()[0].num_connections, 1);
}

}  // namespace
}  // namespace nuice::flow
