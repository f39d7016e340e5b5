// SPDX-License-Identifier: BSD-3-Clause
// The watchdog between ranks that are threads: a rank that waits for one that never answers gives up, names
// it and tells the others. fault_test.py tests processes that die.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <regex>
#include <string>
#include <thread>

#include "core/support/watchdog.hpp"
#include "nuice/am/level_sync.hpp"
#include "nuice/am/loopback.hpp"
#include "nuice/am/port.hpp"
#include "nuice/core/error.hpp"

namespace nuice::test {
namespace {

using namespace std::chrono_literals;

constexpr Rank silent = 1;

/// Ranks 0 and 2 wait, rank 1 computes until they have given up. The error names rank 1, and others too if
/// the machine is so busy that they do not answer in time.
template <typename Wait>
void expect_timeout(Wait&& wait) {
  const std::regex said("no answer from .*rank 1\\b");
  std::atomic<int> gave_up = 0;
  am::run_loopback({.num_ranks = 3, .concurrent = true}, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport), {.watchdog_s = 0.2});
    const auto echo = ep.on_call<int, int>("echo", [](am::Context&, const int& value) { return value; });
    ep.seal();
    if (ep.rank() == silent) {
      while (gave_up < 2) std::this_thread::sleep_for(1ms);
      EXPECT_THROW(ep.quiesce(), Error);  // it has been told
      return;
    }
    try {
      wait(ep, echo);
      ADD_FAILURE() << "no rank gave up";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::timeout);
      EXPECT_TRUE(std::regex_search(error.what(), said)) << error.what();
    }
    EXPECT_TRUE(ep.has_failed());
    EXPECT_THROW(ep.poll(), am::TransportError);
    EXPECT_THROW(ep.barrier(), am::TransportError);
    ++gave_up;
  });
}

TEST(Watch, ACollectiveCallNamesTheSilentRank) {
  expect_timeout([](am::Endpoint& ep, const auto&) { ep.quiesce(); });
  expect_timeout([](am::Endpoint& ep, const auto&) { ep.barrier(); });
}

TEST(Watch, ARankThatDoesNotComeToSeal) {
  std::atomic<int> gave_up = 0;
  am::run_loopback({.num_ranks = 3, .concurrent = true}, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport), {.watchdog_s = 0.2});
    while (ep.rank() == silent && gave_up < 2) std::this_thread::sleep_for(1ms);
    try {
      ep.seal();
      ADD_FAILURE() << "no rank gave up";
    } catch (const am::TransportError& error) {
      EXPECT_NE(std::string(error.what()).find("rank 1"), std::string::npos) << error.what();
    }
    EXPECT_THROW(ep.poll(), am::TransportError);
    ++gave_up;
  });
}

TEST(Watch, AFutureAndAPort) {
  expect_timeout([](am::Endpoint& ep, const auto& echo) { (void)ep.call(silent, echo, 1).get(); });
  expect_timeout([](am::Endpoint& ep, const auto&) {
    std::byte memory[8];
    const am::Port port = ep.open_port(memory, 8);
    ep.poll_until([&] { return port.complete(); });
  });
}

TEST(Watch, ALevelOfNeighbours) {
  std::atomic<int> gave_up = 0;
  am::run_loopback({.num_ranks = 3, .concurrent = true}, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport), {.watchdog_s = 0.2});
    ep.seal();
    am::LevelSync levels(ep, {(ep.rank() + 1) % 3, (ep.rank() + 2) % 3});
    if (ep.rank() == silent) {
      while (gave_up < 2) std::this_thread::sleep_for(1ms);
      return;
    }
    EXPECT_THROW(levels.finish_level(), am::TransportError);
    ++gave_up;
  });
}

TEST(Watch, WhoAnswersIsNotAccused) {
  std::atomic<bool> over = false;
  am::run_loopback({.num_ranks = 2, .concurrent = true}, [&](std::unique_ptr<am::Transport> transport) {
    const double limit_s = transport->rank() == 0 ? 0.2 : 0;
    am::Endpoint ep(std::move(transport), {.watchdog_s = limit_s});
    ep.seal();
    if (ep.rank() == 1) {
      EXPECT_THROW(ep.poll_until([] { return false; }),
                   am::TransportError);  // it has no watchdog, but is told
      over = true;
      return;
    }
    try {
      ep.poll_until([] { return false; });
    } catch (const am::TransportError& error) {
      EXPECT_NE(std::string(error.what()).find("all ranks respond"), std::string::npos) << error.what();
    }
  });
  EXPECT_TRUE(over);
}

TEST(Watch, TimeSpentElsewhereDoesNotCount) {
  am::run_loopback({.num_ranks = 2, .concurrent = true}, [](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport), {.watchdog_s = 0.5});
    ep.seal();
    for (int round = 0; round < 3; ++round) {
      std::this_thread::sleep_for(600ms);  // both: neither waits for messages for long, only for a core
      ep.quiesce();
    }
    EXPECT_FALSE(ep.has_failed());
  });
}

TEST(Watch, RefusesALimitBelowZero) {
  am::run_loopback({.num_ranks = 1}, [](std::unique_ptr<am::Transport> transport) {
    EXPECT_THROW(am::Endpoint(std::move(transport), {.watchdog_s = -1}), Error);
  });
}

TEST(QuietTime, CountsOnlyTheTimeSpentLooking) {
  QuietTime quiet;
  quiet.look(0, 100, 1);
  quiet.look(0, 100.5, 1);
  EXPECT_DOUBLE_EQ(quiet.seconds(), 0.5);
  quiet.look(0, 200, 1);  // the process was stopped, or busy
  EXPECT_DOUBLE_EQ(quiet.seconds(), 1.5);
  quiet.look(1, 200.1, 1);
  EXPECT_EQ(quiet.seconds(), 0);
  quiet.restart();
  quiet.look(1, 300, 1);
  EXPECT_EQ(quiet.seconds(), 0);
}

TEST(RankNames, AreSortedAndNotTooMany) {
  EXPECT_EQ(names_of({3, 1, 3}), "rank 1, rank 3");
  EXPECT_EQ(names_of({9, 8, 7, 6, 5, 4, 3, 2, 1}),
            "rank 1, rank 2, rank 3, rank 4, rank 5, rank 6, rank 7, rank 8 and 1 more");
}

}  // namespace
}  // namespace nuice::test
