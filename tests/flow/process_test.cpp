// SPDX-License-Identifier: BSD-3-Clause
// Tests of windows that the library's thread sets without being told of connections and reads.
#include "flow/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "flow/pair.hpp"
#include "flow/socket.hpp"

namespace nuice::flow {
namespace {

constexpr int small = 1 << 18;  // above two segments of loop-back, which are 131 KB
constexpr int large = 1 << 20;
constexpr std::size_t much = 8 << 20;  // sent in the 10 ms between two looks, as on a fast port

template <typename Condition>
bool soon(Condition&& holds) {
  for (int i = 0; i < 400; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return holds();
}

void send_and_read(const Pair& pair, std::size_t bytes) {
  Governor governs_nothing;
  pair.send_and_read(governs_nothing, bytes);
}

/// The first test, because a port that data have shown to be fast gets no windows. Without data the kernel
/// leaves a clamp as it is.
TEST(FlowProcess, FindsConnectionsThatAreMadeLaterAndNumbersThatAreUsedAgain) {
  govern_process();
  std::set<int> numbers;
  bool is_used_again = false;
  for (int i = 0; i < 20 && !is_used_again; ++i) {  // sometimes the thread has taken the number
    const Pair pair;
    is_used_again = !numbers.insert(pair.receiver).second;
    const int before = pair.clamp();
    govern_process();
    EXPECT_TRUE(soon([&] { return pair.clamp() != before; })) << before;
  }
  EXPECT_TRUE(is_used_again);
}

TEST(FlowProcess, FindsAConnectionAndLetsAFastOneGo) {
  const Pair pair;
  Buffer buffer = Buffer::tuned;
  free_window(pair.receiver, buffer);
  ASSERT_GT(pair.clamp(), small);
  ASSERT_TRUE(has_connections_to_others());
  govern_process();
  EXPECT_TRUE(soon([&] { return pair.clamp() <= small; })) << pair.clamp();
  EXPECT_TRUE(soon([&] { return send_and_read(pair, much), pair.clamp() >= large; })) << pair.clamp();
}

TEST(FlowProcess, LeavesConnectionsWithinAHostAlone) {
  const Pair pair("127.0.0.1");
  const int before = pair.clamp();
  govern_process();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(pair.clamp(), before);
}

TEST(FlowProcess, AForkedProcessEndsAsItWould) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's locks may be held by the thread when the process is forked";
#endif
  govern_process();
  const pid_t child = fork();
  if (child == 0) {
    govern_process();
    std::exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(FlowProcess, KnowsItsDescriptors) {
  const Pair pair;
  const std::vector<int> all = open_descriptors();
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_TRUE(std::ranges::binary_search(all, pair.receiver));
  EXPECT_TRUE(std::ranges::binary_search(all, STDERR_FILENO));
  EXPECT_EQ(cookie_of(STDERR_FILENO), 0U);
  EXPECT_NE(cookie_of(pair.receiver), cookie_of(pair.sender));
}

}  // namespace
}  // namespace nuice::flow
