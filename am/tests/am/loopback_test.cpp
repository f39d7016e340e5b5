// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite in one process: one rank at a time with several seeds, with chaos, and with ranks
// that run at the same time. Also tests special features of loop-back.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "am/conformance.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/am/loopback.hpp"
#include "nuice/am/port.hpp"
#include "nuice/core/error.hpp"

namespace nuice::test {
namespace {

enum class Mode { in_turn, chaos, concurrent, hosts, chaos_on_hosts, concurrent_hosts };

class Loopback : public testing::TestWithParam<std::tuple<Mode, ConformanceCase, Rank>> {};

TEST_P(Loopback, Conforms) {
  const auto& [mode, test, num_ranks] = GetParam();
  const bool concurrent = mode == Mode::concurrent || mode == Mode::concurrent_hosts;
  const bool chaos = mode == Mode::chaos || mode == Mode::chaos_on_hosts;
  for (const std::uint64_t seed : {1U, 2U}) {
    // One host, or several hosts with two ranks each (the last with one if the number of ranks is odd).
    const Rank a_host = seed == 1 ? 2 : num_ranks;
    const am::LoopbackOptions options{.num_ranks = num_ranks,
                                      .concurrent = concurrent,
                                      .seed = seed,
                                      .ranks_per_host = mode >= Mode::hosts ? a_host : 0,
                                      .ring_bytes = seed == 1 ? std::size_t{1} << 15 : std::size_t{1} << 10};
    const auto program = [&](std::unique_ptr<am::Transport> transport) {
      test.run(
          [&] { return chaos ? am::with_chaos(std::move(transport), {.seed = seed}) : std::move(transport); },
          concurrent ? 4 : 1);
    };
    am::run_loopback(options, program);
  }
}

std::string name_of(const testing::TestParamInfo<Loopback::ParamType>& param) {
  const auto& [mode, test, num_ranks] = param.param;
  const std::string modes[] = {"InTurn", "Chaos", "Concurrent", "Hosts", "ChaosOnHosts", "ConcurrentHosts"};
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
INSTANTIATE_TEST_SUITE_P(Hosts, Loopback,
                         testing::Combine(testing::Values(Mode::hosts), all_cases, testing::Values(1, 2, 5)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ChaosOnHosts, Loopback,
                         testing::Combine(testing::Values(Mode::chaos_on_hosts), all_cases,
                                          testing::Values(5)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ConcurrentHosts, Loopback,
                         testing::Combine(testing::Values(Mode::concurrent_hosts), all_cases,
                                          testing::Values(4)),
                         name_of);

struct Said {
  std::uint64_t value;
};

// The port is destroyed in a handler between two parts of a put. Nothing more is written, and the slot is not
// reused before the last part has arrived.
TEST(LoopbackPort, DestroyedInAHandler) {
  std::atomic<int> step = 0;
  am::run_loopback({.num_ranks = 2, .concurrent = true, .ring_bytes = 1024}, [&](auto transport) {
    am::Endpoint ep(std::move(transport), {.poll_every = 0, .poll_limit = 1});
    std::vector<std::byte> memory(500, std::byte{0});
    std::vector<std::byte> others(500, std::byte{0});
    std::optional<am::Port> port;
    std::optional<am::Port> other;
    const auto close = ep.on<am::Nothing>("close", [&](am::Context&, const am::Nothing&) {
      port.reset();
      std::ranges::fill(memory, std::byte{0});
      other.emplace(ep.open_port(others, 500));
    });
    ep.seal();
    if (ep.rank() == 0) {
      port.emplace(ep.open_port(memory, 500));
      const am::PortRef ref = port->ref();
      ep.put(ref, 0, std::vector<std::byte>(500, std::byte{1}));  // three parts
      ep.poll();
      EXPECT_NE(memory[0], std::byte{0});
      EXPECT_NE(port->missing(), 0);
      step = 1;
      while (step != 2) std::this_thread::yield();
      ep.poll_until([&] { return !port; });
      EXPECT_NE(other->ref().id, ref.id);
      ep.quiesce();
      EXPECT_EQ(other->missing(), 500);
      for (const auto* bytes : {&memory, &others})
        EXPECT_TRUE(std::ranges::all_of(*bytes, [](std::byte b) { return b == std::byte{0}; }));
      const am::Port third = ep.open_port(memory, 500);
      EXPECT_EQ(third.ref().id, ref.id);
      EXPECT_EQ(third.missing(), 500);
      ep.put(ref.next(), 0, std::vector<std::byte>(500));
      EXPECT_THROW(ep.poll_until([] { return false; }), Error);  // the error of the first port
    } else {
      while (step != 1) std::this_thread::yield();
      ep.send(0, close, {});
      step = 2;
      ep.quiesce();
    }
    ep.quiesce();
  });
}

TEST(LoopbackPort, MayBeDestroyedByItsOwnCompletion) {
  am::run_loopback({.num_ranks = 1}, [](auto transport) {
    am::Endpoint ep(std::move(transport));
    ep.seal();
    std::vector<std::byte> memory(8);
    std::optional<am::Port> port;
    std::string seen;
    port.emplace(ep.open_port(memory, 8, [&, text = std::string(100, 'x')](am::Context&) {
      port.reset();
      seen = text;
    }));
    ep.put(port->ref(), 0, std::vector<std::byte>(8));
    ep.quiesce();
    EXPECT_FALSE(port);
    EXPECT_EQ(seen, std::string(100, 'x'));
  });
}

// Items are for a rank that does not poll: poll() here neither waits nor lets newer items overtake older
// ones.
TEST(LoopbackCoalescer, FlushByAgeNeverWaits) {
  std::atomic<bool> filled = false;
  am::run_loopback({.num_ranks = 2, .concurrent = true, .ring_bytes = 1024}, [&](auto transport) {
    am::Endpoint ep(std::move(transport));
    std::vector<std::uint64_t> arrived;
    const auto take =
        ep.on<Said>("take", [&](am::Context&, const Said& said) { arrived.push_back(said.value); });
    ep.seal();
    constexpr std::uint64_t count = 300;
    if (ep.rank() == 0) {
      am::Coalescer<Said> items(ep, take, {.buffer_bytes = 240, .max_age_us = 0.001});
      for (std::uint64_t i = 0; i < count; ++i) {
        const am::Stats before = ep.stats();
        if (i < 85) {
          items.push(1, Said{i});
          ep.poll();
          EXPECT_EQ(ep.stats().stalls, before.stalls);
        } else {
          filled = true;
          items.push(1, Said{i});
        }
      }
      EXPECT_GT(ep.stats().most_deferred, 0U);
      ep.quiesce();
    } else {
      while (!filled) std::this_thread::yield();
      ep.quiesce();
      EXPECT_EQ(arrived.size(), count);
      EXPECT_TRUE(std::ranges::is_sorted(arrived));
    }
  });
}

/// Records the destinations of messages and batches.
class Noting : public am::Transport {
 public:
  Noting(std::unique_ptr<am::Transport> inner, std::vector<Rank>& noted)
      : inner_(std::move(inner)), noted_(noted) {}
  std::string name() const override { return inner_->name(); }
  Rank rank() const override { return inner_->rank(); }
  Rank num_ranks() const override { return inner_->num_ranks(); }
  std::size_t max_message_bytes() const override { return inner_->max_message_bytes(); }
  bool try_send(Rank dst, am::Header header, std::span<const std::byte> a,
                std::span<const std::byte> b) override {
    const bool taken = inner_->try_send(dst, header, a, b);
    if (taken && header.kind != am::Kind::internal) noted_.push_back(dst);
    return taken;
  }
  int poll(am::Inbox& inbox, int limit) override { return inner_->poll(inbox, limit); }
  void start_reduce(am::ReduceOp op, std::span<const std::int64_t> values) override {
    inner_->start_reduce(op, values);
  }
  bool test_reduce(std::span<std::int64_t> result) override { return inner_->test_reduce(result); }
  void yield() override { inner_->yield(); }  // which chooses the next rank to run

 private:
  std::unique_ptr<am::Transport> inner_;
  std::vector<Rank>& noted_;
};

// If all ranks started with rank 0, its host's port would overflow first, and then the next host's.
TEST(LoopbackCoalescer, AFlushBeginsBehindItsOwnRank) {
  am::run_loopback({.num_ranks = 5}, [](auto transport) {
    std::vector<Rank> noted;
    am::Endpoint ep(std::make_unique<Noting>(std::move(transport), noted));
    const auto take = ep.on<Said>("take", [](am::Context&, const Said&) {});
    ep.seal();
    std::vector<Rank> expected;
    for (Rank distance = 1; distance < ep.num_ranks(); ++distance)
      expected.push_back((ep.rank() + distance) % ep.num_ranks());
    am::Coalescer<Said> items(ep, take, {.buffer_bytes = 240});
    for (const bool by_quiesce : {false, true}) {
      noted.clear();
      for (Rank dst = 0; dst < ep.num_ranks(); ++dst) items.push(dst, Said{});
      EXPECT_TRUE(noted.empty());
      if (!by_quiesce) items.flush();
      ep.quiesce();
      EXPECT_EQ(noted, expected);
    }
  });
}

struct Branch {
  std::uint32_t seed;
  std::uint32_t levels;  // below this one
};

/// Every item leads to two more on random ranks, up to a depth. Half of them wait in a coalescer that only
/// quiesce() empties. A rank that leaves a quiesce() counts all of them, and no rank leaves twice before all
/// have left once.
void grow_trees(const am::LoopbackOptions& options, bool chaos) {
  constexpr std::uint32_t levels = 5;
  constexpr int rounds = 3;
  const int items_of_all = options.num_ranks * ((1 << (levels + 1)) - 1);
  std::atomic<int> handled = 0;
  am::run_loopback(options, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(chaos ? am::with_chaos(std::move(transport), {.seed = options.seed})
                          : std::move(transport));
    am::Coalescer<Branch>* waiting = nullptr;
    am::Handler<Branch> grow;
    grow = ep.on<Branch>("grow", [&](am::Context& c, const Branch& branch) {
      ++handled;
      for (std::uint32_t side = 0; side < 2 && branch.levels > 0; ++side) {
        const std::uint32_t seed = branch.seed * 2654435761U + side + 1;
        const auto dst = static_cast<Rank>(seed / 256 % static_cast<std::uint32_t>(c.endpoint().num_ranks()));
        const Branch next{seed, branch.levels - 1};
        if (seed / 65536 % 2 == 0) {
          waiting->push(dst, next);
        } else {
          c.endpoint().send(dst, grow, next);
        }
      }
    });
    ep.seal();
    am::Coalescer<Branch> items(ep, grow, {.buffer_bytes = 250});
    waiting = &items;
    for (int round = 1; round <= rounds; ++round) {
      items.push(
          ep.rank(),
          {static_cast<std::uint32_t>(options.seed) * 77 + static_cast<std::uint32_t>(ep.rank()), levels});
      ep.quiesce();
      EXPECT_EQ(handled, round * items_of_all);
      ep.barrier();
    }
    ep.quiesce();
  });
}

TEST(LoopbackQuiesce, CountsWhatHandlersSendAndWhatWaits) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed)
    for (const Rank a_host : {1, 2, 3, 6})
      for (const bool chaos : {false, true})
        grow_trees(
            {.num_ranks = 6, .seed = seed, .ranks_per_host = a_host, .ring_bytes = std::size_t{1} << 12},
            chaos);
}

TEST(LoopbackQuiesce, CountsWhatConcurrentHandlersSend) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const Rank a_host : {2, 3, 6})
      grow_trees({.num_ranks = 6,
                  .concurrent = true,
                  .seed = seed,
                  .ranks_per_host = a_host,
                  .ring_bytes = std::size_t{1} << 12},
                 false);
}

/// Returns the order in which rank 0 received the messages of the others.
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
