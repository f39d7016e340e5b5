// SPDX-License-Identifier: BSD-3-Clause
// Finds out which processes of the host have ended: through files of the system, or by asking about each if
// there are too few files.
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX, and <csignal> need not have it
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "am/mpi/processes.hpp"
#include "core/support/process_state.hpp"

namespace nuice::test {
namespace {

using am::mpi::Neighbours;
using am::mpi::Process;

/// A child process; the destructor ends it and waits for its end.
class Child {
 public:
  Child() : number_(fork()) {
    if (number_ == 0)
      for (;;) pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    end();
    waitpid(number_, nullptr, 0);
  }
  /// Only the destructor collects the status. Until then the ended process stays a zombie.
  void end() const { kill(number_, SIGKILL); }
  Process process() const {
    Process process = am::mpi::this_process();
    process.number = number_;
    process.begun = core::process_state(number_)->begun;
    return process;
  }

 private:
  pid_t number_;
};

std::vector<Rank> ranks_up_to(Rank num) {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < num; ++rank) ranks.push_back(rank);
  return ranks;
}

/// Waits up to a second. Ends are usually known in microseconds, but a loaded machine may be slow.
std::size_t dead_within_a_second(Neighbours& neighbours, std::size_t wanted) {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + std::chrono::seconds(1); Clock::now() < end;) {
    if (neighbours.dead_ranks().size() >= wanted) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return neighbours.dead_ranks().size();
}

std::ptrdiff_t num_open_files() {
  using Files = std::filesystem::directory_iterator;
  return std::distance(Files("/proc/self/fd"), Files());
}

TEST(Processes, AnEndIsTold) {
  const Child lives;
  const Child dies;
  Neighbours neighbours({3, 4, 5}, {lives.process(), am::mpi::this_process(), dies.process()});
  EXPECT_TRUE(neighbours.dead_ranks().empty());
  dies.end();
  EXPECT_EQ(dead_within_a_second(neighbours, 1), 1U);
  EXPECT_EQ(neighbours.dead_ranks(), std::vector<Rank>{5});
  lives.end();
  EXPECT_EQ(dead_within_a_second(neighbours, 2), 2U);
  EXPECT_EQ(neighbours.dead_ranks(), (std::vector<Rank>{5, 3}));
}

TEST(Processes, OneThatHasEndedBeforeIsDead) {
  const Child child;
  const Process process = child.process();
  child.end();
  Neighbours neighbours({7}, {process});
  EXPECT_EQ(dead_within_a_second(neighbours, 1), 1U);
}

TEST(Processes, HundredsAreAllLookedAt) {
  const Child child;
  constexpr Rank num = 150;
  Neighbours neighbours(ranks_up_to(num), std::vector<Process>(num, child.process()));
  EXPECT_TRUE(neighbours.dead_ranks().empty());
  child.end();
  EXPECT_EQ(dead_within_a_second(neighbours, num), num);
}

TEST(Processes, SeveralWatchersShareOneFile) {
  const Child child;
  const std::ptrdiff_t before = num_open_files();
  {
    Neighbours first({1}, {child.process()});
    const Neighbours second({1}, {child.process()});
    const Neighbours copy = first;
    EXPECT_LE(num_open_files(), before + 1);
    child.end();
    EXPECT_EQ(dead_within_a_second(first, 1), 1U);
  }
  EXPECT_EQ(num_open_files(), before);
}

TEST(Processes, FewFilesAreLeftToTheProgram) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit few = {200, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Child child;
  constexpr Rank num = 51;  // more than a quarter of the allowed files
  const std::ptrdiff_t before = num_open_files();
  Neighbours neighbours(ranks_up_to(num), std::vector<Process>(num, child.process()));
  EXPECT_EQ(num_open_files(), before);
  EXPECT_TRUE(neighbours.dead_ranks().empty());
  child.end();
  EXPECT_EQ(dead_within_a_second(neighbours, num), num);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

}  // namespace
}  // namespace nuice::test
