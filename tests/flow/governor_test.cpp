// SPDX-License-Identifier: BSD-3-Clause
// Tests of windows on real sockets: connections from 127.0.0.2 to 127.0.0.1, which the governor takes for two
// hosts.
#include "flow/governor.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
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
  limit_window(pair.receiver, 2 * 1408, 0, buffer);
  EXPECT_EQ(pair.clamp(), 2 * 1408);
  free_window(pair.receiver, buffer);
  EXPECT_GT(pair.clamp(), 1 << 20);
}

TEST(FlowGovernor, FullPacketsCarryAMultipleOfTheUnit) {
  EXPECT_EQ(aligned_segment_bytes(1500, false, true), 1408 + 12);
  EXPECT_EQ(aligned_segment_bytes(1500, true, true), 1408 + 12);
  EXPECT_EQ(aligned_segment_bytes(1500, false, false), 1408);
  EXPECT_EQ(aligned_segment_bytes(9000, false, true), 8832 + 12);
  EXPECT_EQ(aligned_segment_bytes(0, false, true), 0);
  EXPECT_EQ(aligned_segment_bytes(576, false, true), 0);
  EXPECT_EQ(aligned_segment_bytes(65536, false, true), 0);
}

TEST(FlowGovernor, PacketsOfASizeThatTheProgramHasSetStayAsTheyAre) {
  const sockaddr_in there = address_of("127.0.0.1", 9);
  const int sender = socket(AF_INET, SOCK_STREAM, 0);
  const int of_program = 1000;
  ASSERT_EQ(setsockopt(sender, IPPROTO_TCP, TCP_MAXSEG, &of_program, sizeof of_program), 0);
  EXPECT_FALSE(align_segments(sender, reinterpret_cast<const sockaddr*>(&there), sizeof there));
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ASSERT_EQ(getsockopt(sender, IPPROTO_TCP, TCP_MAXSEG, &bytes, &length), 0);
  EXPECT_EQ(bytes, of_program);
  close(sender);
}

/// The purpose of the alignment: no packet of a few bytes fills the rest of a window.
TEST(FlowGovernor, AlignedPacketsFillTheirWindow) {
  constexpr int segment_bytes = 1408;
  constexpr std::size_t bytes = std::size_t{500} * segment_bytes;
  const Pair pair("127.0.0.2", segment_bytes + 12);
  const int yes = 1;
  setsockopt(pair.sender, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  Governor none;
  Buffer buffer = Buffer::tuned;
  pair.send_and_read(none, bytes);  // the window with which the connection begins
  limit_window(pair.receiver, 2 * segment_bytes, bytes, buffer);
  pair.send_and_read(none, bytes);
  const auto before = counts_of(pair.receiver);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->segment_bytes, segment_bytes);
  for (int i = 0; i < 4; ++i) {
    limit_window(pair.receiver, 2 * segment_bytes, bytes, buffer);
    pair.send_and_read(none, bytes);
  }
  EXPECT_LE(counts_of(pair.receiver)->segments - before->segments, 4 * 500 * 11 / 10);
}

int receive_buffer(const Pair& pair) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  getsockopt(pair.receiver, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return bytes;
}

/// If the buffer were large earlier, the kernel would advertise all of it when the first full packets come.
TEST(FlowGovernor, TheBufferIsLargeOnlyAfterTheFirstWindow) {
  const Pair pair;
  Buffer buffer = Buffer::tuned;
  limit_window(pair.receiver, 2 * 1408, 0, buffer);
  EXPECT_EQ(receive_buffer(pair), 131072);
  limit_window(pair.receiver, 2 * 1408, first_window_bytes, buffer);
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
  limit_window(pair.receiver, 2 * 1408, first_window_bytes, buffer);
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
    governor.arrived(pair.receiver, 1000);  // a read that ended after close()
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

TEST(FlowGovernor, ANumberThatBecameAnotherConnectionsIsLeftAlone) {
  Governor governor;
  const Pair first, second("127.0.0.2", 1448);
  governor.opened(first.receiver, false);
  const int before = second.clamp();
  ASSERT_EQ(dup2(second.receiver, first.receiver), first.receiver);  // the governor does not see it
  governor.arrived(first.receiver, 100000);
  governor.look();
  EXPECT_EQ(second.clamp(), before);
  governor.stop();
  EXPECT_EQ(second.clamp(), before);
}

/// All bytes arrive, whatever windows are set in whatever order, and whenever the receiver pauses. So no
/// window stays closed.
TEST(FlowGovernor, AllBytesArriveWhateverWindowsAreSet) {
  constexpr int segment_bytes = 1448;
  constexpr std::size_t bytes = 4 << 20;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::minstd_rand draw(seed);
    const Pair pair("127.0.0.2", segment_bytes);
    if (pair.began_small) restore_buffer(pair.receiver);
    std::thread sender([&] {
      const std::vector<char> data(bytes, 'x');
      EXPECT_EQ(write(pair.sender, data.data(), bytes), static_cast<ssize_t>(bytes));
    });
    Buffer buffer = Buffer::tuned;
    std::vector<char> got(bytes);
    for (std::size_t done = 0; done < bytes;) {
      const auto choice = draw() % 16;
      if (choice == 0)
        free_window(pair.receiver, buffer);
      else if (choice < 6)
        limit_window(pair.receiver, segment_bytes * (1 + draw() % 8), static_cast<std::int64_t>(done),
                     buffer);
      else if (choice == 6)
        std::this_thread::sleep_for(std::chrono::milliseconds(draw() % 20));  // the buffer fills
      pollfd waits{.fd = pair.receiver, .events = POLLIN, .revents = 0};
      if (poll(&waits, 1, 10'000) != 1) {
        ADD_FAILURE() << "nothing came for 10 s, after " << done << " bytes with seed " << seed;
        shutdown(pair.receiver, SHUT_RDWR);
        break;
      }
      done += static_cast<std::size_t>(
          read(pair.receiver, got.data() + done, std::min<std::size_t>(1 + draw() % 60000, bytes - done)));
    }
    sender.join();
    EXPECT_EQ(std::ranges::count(got, 'x'), static_cast<std::ptrdiff_t>(bytes));
  }
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
