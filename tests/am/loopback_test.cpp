// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite in one process: one rank at a time with several seeds, with chaos, and with ranks that run at
// the same time; and what is special to loop-back.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "am/conformance.hpp"
#include "nuice/am/loopback.hpp"
#include "nuice/error.hpp"

namespace nuice::test {
namespace {

enum class Mode { in_turn, chaos, concurrent };

class Loopback : public testing::TestWithParam<std::tuple<Mode, ConformanceCase, Rank>> {};

TEST_P(Loopback, Conforms) {
  const auto& [mode, test, num_ranks] = GetParam();
  for (const std::uint64_t seed : {1U, 2U}) {
    const am::LoopbackOptions options{.num_ranks = num_ranks,
                                      .concurrent = mode == Mode::concurrent,
                                      .seed = seed,
                                      .ring_bytes = seed == 1 ? std::size_t{1} << 15 : std::size_t{1} << 10};
    const auto program = [&](std::unique_ptr<am::Transport> transport) {
      test.run(
          [&] {
            return mode == Mode::chaos ? am::with_chaos(std::move(transport), {.seed = seed})
                                       : std::move(transport);
          },
          mode == Mode::concurrent ? 4 : 1);
    };
    am::run_loopback(options, program);
  }
}

std::string name_of(const testing::TestParamInfo<Loopback::ParamType>& param) {
  const auto& [mode, test, num_ranks] = param.param;
  const std::string modes[] = {"InTurn", "Chaos", "Concurrent"};
  return modes[static_cast<int>(mode)] + test.name + "On" + std::to_string(num_ranks);
}

const auto all_cases = testing::ValuesIn(conformance_cases().begin(), conformance_cases().end());
INSTANTIATE_TEST_SUITE_P(InTurn, Loopback,
                         testing::Combine(testing::Values(Mode::in_turn), all_cases,
                                          testing::Values(1, 2, 3, 8)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Chaos, Loopback,
                         testing::Combine(testing::Values(Mode::chaos), all_cases, testing::Values(2, 4)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Concurrent, Loopback,
                         testing::Combine(testing::Values(Mode::concurrent), all_cases,
                                          testing::Values(2, 4)),
                         name_of);

struct Said {
  std::uint64_t value;
};

/// In which order rank 0 heard from the others.
std::string history(std::uint64_t seed) {
  std::string text;
  am::run_loopback({.num_ranks = 4, .seed = seed}, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport));
    const auto tell =
        ep.on<Said>("tell", [&](am::Context& c, const Said&) { text += std::to_string(c.source()); });
    ep.seal();
    for (int i = 0; i < 50; ++i) ep.send(0, tell, Said{1});
    ep.quiesce();
  });
  return text;
}

TEST(LoopbackRun, SameSeedSameRun) {
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

TEST(LoopbackRun, ThrowsWhatARankThrew) {
  for (const bool concurrent : {false, true}) {
    const auto program = [](std::unique_ptr<am::Transport> transport) {
      am::Endpoint ep(std::move(transport));
      ep.seal();
      if (ep.rank() == 2) throw Error(ErrorCode::io, "rank 2 has enough");
      ep.quiesce();
    };
    try {
      am::run_loopback({.num_ranks = 3, .concurrent = concurrent}, program);
      FAIL();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "rank 2 has enough");
    }
  }
}

TEST(LoopbackRun, FindsADeadlock) {
  const auto program = [](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport));
    ep.seal();
    if (ep.rank() == 0) ep.poll_until([] { return false; });
  };
  EXPECT_THROW(am::run_loopback({.num_ranks = 2}, program), Error);
}

TEST(LoopbackRun, RefusesBadOptions) {
  const auto program = [](std::unique_ptr<am::Transport>) {};
  EXPECT_THROW(am::run_loopback({.num_ranks = 0}, program), Error);
  EXPECT_THROW(am::run_loopback({.num_ranks = 1, .ring_bytes = 3000}, program), Error);
}

}  // namespace
}  // namespace nuice::test
