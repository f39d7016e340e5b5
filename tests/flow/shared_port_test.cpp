// SPDX-License-Identifier: BSD-3-Clause
// Tests of processes that share a port: several objects that share its memory, and a process that is killed.
#include "flow/shared_port.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace nuice::flow {
namespace {

constexpr double active_for_s = 0.02;

/// Returns an address that no other test uses.
std::string new_address() {
  static int count = 0;
  return "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

std::string file_of(const std::string& address) {
  struct stat network{};
  stat("/proc/self/ns/net", &network);
  return "/dev/shm/nuice-port-" + std::to_string(geteuid()) + "-" + std::to_string(network.st_ino) + "-" +
         address;
}

TEST(FlowSharedPort, SumsWhatAllHaveTold) {
  const std::string address = new_address();
  SharedPort a(address), b(address);
  EXPECT_EQ(a.exchange({3, 100, 1}, 1.0, active_for_s).num_senders, 3);
  const SharedPort::Counts sum = b.exchange({4, 50, 2}, 1.01, active_for_s);
  EXPECT_EQ(sum.num_senders, 7);
  const SharedPort::Counts later = a.exchange({3, 160, 1}, 1.02, active_for_s);
  EXPECT_EQ(later.segments - sum.segments, 60);
  EXPECT_EQ(later.lost_segments - sum.lost_segments, 0);
}

TEST(FlowSharedPort, SendersOfASilentProcessAreIdle) {
  const std::string address = new_address();
  SharedPort a(address), b(address);
  a.exchange({3, 0, 0}, 1.0, active_for_s);
  EXPECT_EQ(b.exchange({4, 0, 0}, 1.03, active_for_s).num_senders, 4);
}

TEST(FlowSharedPort, ASlotThatChangesHandsNeverMovesTheSums) {
  const std::string address = new_address();
  SharedPort a(address), b(address);
  a.exchange({1, 0, 0}, 1.0, active_for_s);
  a.exchange({1, 500, 5}, 1.0, active_for_s);
  const std::int64_t before =
      b.exchange({1, 0, 0}, 20.0, active_for_s).segments;  // takes the slot of a, after 19 s
  EXPECT_EQ(before, 500);
  const SharedPort::Counts both = a.exchange({1, 700, 5}, 20.0, active_for_s);  // a takes another one
  EXPECT_EQ(both.segments, 500);
  EXPECT_EQ(both.num_senders, 2);
  EXPECT_EQ(a.exchange({1, 701, 6}, 20.0, active_for_s).segments, 501);
  EXPECT_EQ(b.exchange({1, 10, 0}, 20.0, active_for_s).segments, 511);
}

TEST(FlowSharedPort, OneMoreThanThereAreSlotsIsAlone) {
  const std::string address = new_address();
  std::vector<SharedPort> all;
  for (int i = 0; i < SharedPort::most_processes; ++i)
    all.emplace_back(address).exchange({1, 1, 0}, 1.0, active_for_s);
  SharedPort late(address);
  EXPECT_EQ(late.exchange({5, 7, 0}, 1.0, active_for_s).num_senders, 5);
  EXPECT_EQ(all.front().exchange({1, 1, 0}, 1.0, active_for_s).num_senders, SharedPort::most_processes);
}

TEST(FlowSharedPort, TheLastToLeaveRemovesTheFile) {
  const std::string address = new_address();
  SharedPort a(address), b(address);
  a.exchange({1, 0, 0}, 1.0, active_for_s);
  b.exchange({1, 0, 0}, 1.0, active_for_s);
  a.leave();
  EXPECT_EQ(access(file_of(address).c_str(), F_OK), 0);
  EXPECT_EQ(a.exchange({9, 9, 9}, 1.0, active_for_s).num_senders, 9);  // alone
  b.leave();
  EXPECT_NE(access(file_of(address).c_str(), F_OK), 0);
}

TEST(FlowSharedPort, AProcessThatIsKilledLeavesNothingThatMatters) {
  const std::string address = new_address();
  SharedPort survivor(address);
  const pid_t child = fork();
  if (child == 0) {
    SharedPort mine(address);
    mine.exchange({100, 5, 5}, 1.0, active_for_s);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(survivor.exchange({2, 0, 0}, 1.0, active_for_s).num_senders, 102);
  EXPECT_EQ(survivor.exchange({2, 0, 0}, 1.1, active_for_s).num_senders, 2);
  unlink(file_of(address).c_str());
}

TEST(FlowSharedPort, AFileThatCannotBeHadMeansAlone) {
  SharedPort port("no/such/name");
  EXPECT_EQ(port.exchange({2, 3, 4}, 1.0, active_for_s).segments, 3);
}

}  // namespace
}  // namespace nuice::flow
