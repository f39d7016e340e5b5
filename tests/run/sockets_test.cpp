// SPDX-License-Identifier: BSD-3-Clause
// Started with libnuice_flow.so in front and every connection governed: connections from 127.0.0.2 to
// 127.0.0.1, of which the library sees connect(), accept(), read() and close() alone. Loop-back is a fast
// port, so that a window that is governed soon has no bound.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "flow/pair.hpp"

namespace nuice::flow {
namespace {

constexpr int segment_bytes = 1448;
constexpr int large = 1 << 20;

/// One test, as the port has a bound only at the beginning of a process.
TEST(RunSockets, AreLetGoOnAFastPortAlsoWhenTheyWereMoved) {
  Governor governs_nothing;
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < 4; ++i) {
    pairs.push_back(std::make_unique<Pair>("127.0.0.2", segment_bytes));
    pairs.back()->send_and_read(governs_nothing, 1);
    ASSERT_LE(pairs.back()->clamp(), 64 * segment_bytes) << "of connection " << i;
  }
  const auto move_to = [&](Pair& pair, int number) {
    ASSERT_GE(number, 0);
    close(pair.receiver);
    pair.receiver = number;
  };
  move_to(*pairs[1], dup(pairs[1]->receiver));
  move_to(*pairs[2], dup2(pairs[2]->receiver, dup(STDERR_FILENO)));
  // As Python's subprocess does it: such a child runs in the memory of its parent.
  const pid_t child = vfork();
  if (child == 0) {
    close(pairs[3]->receiver);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  for (int i = 0; i < 100 && pairs[0]->clamp() < large; ++i)
    pairs[0]->send_and_read(governs_nothing, 8 << 20);
  // Windows of idle connections are set at their next data. Only a byte, as the kernel tunes the clamp of a
  // connection that was let go when much comes.
  for (const auto& pair : pairs) {
    for (int i = 0; i < 100 && pair->clamp() < large; ++i) {
      usleep(1000);
      pair->send_and_read(governs_nothing, 1);
    }
    EXPECT_GE(pair->clamp(), large);
  }
}

/// Law: whenever a receiver is stopped, it gets every byte once it goes on, and
/// its window is never closed for good.
TEST(RunSockets, AReceiverThatIsStoppedNowAndThenGetsEveryByte) {
  constexpr int connections = 4;
  constexpr std::size_t bytes = 32 << 20;
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < connections; ++i) pairs.push_back(std::make_unique<Pair>("127.0.0.2", segment_bytes));
  const pid_t child = fork();
  if (child == 0) {  // sends; the parent, which is governed, is stopped by it
    std::vector<std::thread> threads;
    for (const auto& pair : pairs)
      threads.emplace_back([&] {
        const std::vector<char> data(bytes, 'x');
        for (std::size_t done = 0; done < bytes;) {
          const ssize_t some = write(pair->sender, data.data() + done, bytes - done);
          if (some <= 0) _exit(1);
          done += static_cast<std::size_t>(some);
        }
      });
    std::uint32_t draw = 1;
    for (int i = 0; i < 8; ++i) {
      draw = draw * 1664525 + 1013904223;
      usleep(draw >> 16);  // up to 65 ms
      kill(getppid(), SIGSTOP);
      usleep(10 * (draw >> 16));
      kill(getppid(), SIGCONT);
    }
    for (std::thread& thread : threads) thread.join();
    _exit(0);
  }
  std::vector<std::thread> threads;
  for (const auto& pair : pairs)
    threads.emplace_back([&] {
      std::vector<char> got(1 << 16);
      std::size_t done = 0;
      while (done < bytes) {
        const ssize_t some = read(pair->receiver, got.data(), got.size());
        ASSERT_GT(some, 0);
        done += static_cast<std::size_t>(some);
      }
      EXPECT_EQ(done, bytes);
    });
  for (std::thread& thread : threads) thread.join();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nuice::flow
