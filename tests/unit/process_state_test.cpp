// SPDX-License-Identifier: BSD-3-Clause
#include "core/support/process_state.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

namespace nuice::core {
namespace {

TEST(ProcessState, TellsParentAndBeginOfThisProcess) {
  const auto state = process_state(getpid());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->parent, getppid());
  EXPECT_EQ(state->letter, 'R');
  const auto parent = process_state(getppid());
  ASSERT_TRUE(parent);
  EXPECT_LE(parent->begun, state->begun);
  EXPECT_GT(state->begun, 0);
}

TEST(ProcessState, IsNothingForANumberThatNoProcessHas) {
  EXPECT_FALSE(process_state(std::numeric_limits<std::int64_t>::max()));
}

/// A process may end between the open and the read of its file. Some of these do.
TEST(ProcessState, OutlivesAProcessThatEndsMeanwhile) {
  ASSERT_NE(signal(SIGCHLD, SIG_IGN), SIG_ERR);  // so that a child is gone at once when it ends
  for (int i = 0; i < 300; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(0);
    while (process_state(child)) continue;
  }
  signal(SIGCHLD, SIG_DFL);
}

}  // namespace
}  // namespace nuice::core
