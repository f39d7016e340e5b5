// SPDX-License-Identifier: BSD-3-Clause
// A handler's error is thrown by the call that made the progress. That call and the other ranks' calls
// complete their own work nevertheless: no rank hangs, and nothing is lost or reported twice. One case per
// kind of call.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "am/conformance.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/am/level_sync.hpp"
#include "nuice/am/port.hpp"
#include "nuice/core/error.hpp"

namespace nuice::test {
namespace {

struct Count {
  std::uint64_t value;
};

/// An endpoint that polls at every send, and may have messages with errors waiting in its ring to itself.
class Troubled {
 public:
  explicit Troubled(const MakeTransport& make) : ep(make(), {.poll_every = 1}) {
    fail_ = ep.on<am::Nothing>(
        "fail", [](am::Context&, const am::Nothing&) { throw std::out_of_range("a handler's own"); });
    stir_ = ep.on<Count>("stir", [this](am::Context&, const Count& times) {
      for (std::uint64_t i = 0; i < times.value; ++i) ep.send(ep.rank(), fail_, {});
    });
  }

  /// Makes that many of the next polls throw, on ranks that are multiples of `every`.
  void stir(std::uint64_t times, Rank every = 1) {
    if (ep.rank() % every == 0) attempt([&] { ep.send(ep.rank(), stir_, Count{times + 1}); });
  }

  /// Takes a step, which may throw only the error of `fail`.
  template <typename Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const std::out_of_range&) {
      ++thrown;
    }
  }

  /// Calls quiesce() once, which is enough whatever is thrown: errors after the first are dropped.
  void settle() {
    attempt([&] { ep.quiesce(); });
  }

  Rank next() const { return (ep.rank() + 1) % ep.num_ranks(); }

  am::Endpoint ep;
  int thrown = 0;

 private:
  am::Handler<am::Nothing> fail_;
  am::Handler<Count> stir_;
};

void errors_while_pushing(const MakeTransport& make, int effort) {
  Troubled t(make);
  std::uint64_t sum = 0;
  const auto add = t.ep.on<Count>("add", [&](am::Context&, const Count& c) { sum += c.value; });
  t.ep.seal();
  am::Coalescer<Count> items(t.ep, add, {.buffer_bytes = 4 * sizeof(Count)});
  const auto count = static_cast<std::uint64_t>(30 * effort);
  for (std::uint64_t i = 1; i <= count; ++i) {
    if (i % 3 == 0) t.stir(3);
    for (Rank dst = 0; dst < t.ep.num_ranks(); ++dst) t.attempt([&] { items.push(dst, Count{i}); });
  }
  EXPECT_GT(t.thrown, 0);
  t.settle();
  EXPECT_EQ(sum, static_cast<std::uint64_t>(t.ep.num_ranks()) * (count * (count + 1) / 2));
}

void errors_while_flushing(const MakeTransport& make, int /*effort*/) {
  Troubled t(make);
  std::uint64_t sum = 0;
  const auto add = t.ep.on<Count>("add", [&](am::Context&, const Count& c) { sum += c.value; });
  t.ep.seal();
  am::Coalescer<Count> first(t.ep, add, {.buffer_bytes = 64});
  am::Coalescer<Count> second(t.ep, add, {.buffer_bytes = 64});
  const auto num_ranks = static_cast<std::uint64_t>(t.ep.num_ranks());
  std::uint64_t expected = 0;
  for (const Rank every : {1, 2}) {
    for (const bool by_hand : {true, false}) {
      for (Rank dst = 0; dst < t.ep.num_ranks(); ++dst) {
        first.push(dst, Count{1});
        second.push(dst, Count{10});
      }
      expected += 11 * num_ranks;
      t.stir(2 * num_ranks + 2, every);
      const std::uint64_t before = t.ep.stats().sent;
      if (by_hand) {
        t.attempt([&] { first.flush(); });
        EXPECT_GE(t.ep.stats().sent, before + num_ranks);
      }
      t.settle();
      EXPECT_EQ(sum, expected);
      t.settle();  // no rank's next message may be counted above
    }
  }
}

void errors_while_finishing_levels(const MakeTransport& make, int /*effort*/) {
  Troubled t(make);
  am::LevelSync* sync = nullptr;
  std::vector<std::uint64_t> handled(13, 0);
  const auto tell = t.ep.on<Count>("tell", [&](am::Context& c, const Count& level) {
    EXPECT_EQ(level.value, sync->level_of(c.source()));
    ++handled.at(level.value);
  });
  t.ep.seal();
  std::vector<Rank> all;
  for (Rank other = 0; other < t.ep.num_ranks(); ++other)
    if (other != t.ep.rank()) all.push_back(other);
  t.stir(4, 2);
  am::LevelSync levels(t.ep, all);  // an error of a handler is left to the next call, because the object must
                                    // be made
  sync = &levels;
  for (std::uint64_t level = 0; level < 12; ++level) {
    for (const Rank other : all) t.attempt([&] { t.ep.send(other, tell, Count{level}); });
    t.stir(all.size() + 2, level % 2 == 0 ? 1 : 2);
    t.attempt([&] { levels.finish_level(); });
    EXPECT_EQ(levels.level(), level + 1);
    EXPECT_EQ(handled[level], all.size());
  }
  t.settle();
}

void errors_while_putting(const MakeTransport& make, int /*effort*/) {
  Troubled t(make);
  am::PortRef ref;
  const auto tell = t.ep.on<am::PortRef>("tell", [&](am::Context&, const am::PortRef& r) { ref = r; });
  t.ep.seal();
  for (const std::size_t bytes : {5 * t.ep.max_message_bytes(), std::size_t{60000}}) {
    std::vector<std::byte> memory(bytes);
    am::Port port = t.ep.open_port(memory, static_cast<Bytes>(bytes));
    t.ep.send((t.ep.rank() + t.ep.num_ranks() - 1) % t.ep.num_ranks(), tell, port.ref());
    t.settle();
    std::vector<std::byte> data(bytes, std::byte{7});
    t.stir(6);
    t.attempt([&] { t.ep.put(ref, 0, data); });
    std::ranges::fill(data, std::byte{1});  // may be reused, error or not
    t.settle();
    EXPECT_TRUE(port.complete());
    EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte b) { return b == std::byte{7}; }));
  }
}

void errors_while_calling(const MakeTransport& make, int /*effort*/) {
  Troubled t(make);
  std::uint64_t asked = 0;
  const auto ask = t.ep.on_call<Count, Count>("ask", [&](am::Context&, const Count& c) {
    ++asked;
    return c;
  });
  const auto odd = t.ep.on_call<Count, Count>("odd", [](am::Context&, const Count&) -> Count { throw 7; });
  t.ep.seal();
  for (int i = 0; i < 5; ++i) {
    t.stir(2);
    t.attempt([&] { (void)t.ep.call(t.next(), ask, Count{1}); });
  }
  t.settle();
  EXPECT_EQ(asked, 5U);
  auto future = t.ep.call(t.next(), odd, Count{1});
  t.settle();
  EXPECT_TRUE(future.ready());
  EXPECT_THROW(future.get(), Error);
  t.settle();
}

void errors_while_reducing(const MakeTransport& make, int /*effort*/) {
  Troubled t(make);
  t.ep.seal();
  for (std::int64_t i = 0; i < 20; ++i) {
    t.stir(1, 2);
    t.attempt([&] { t.ep.barrier(); });
    t.stir(3, 2);
    t.attempt([&] { EXPECT_EQ(t.ep.reduce(am::ReduceOp::sum, {&i, 1})[0], i * t.ep.num_ranks()); });
  }
  t.settle();
}

constexpr ConformanceCase cases_with_errors[] = {
    {"ErrorsWhilePushing", errors_while_pushing},
    {"ErrorsWhileFlushing", errors_while_flushing},
    {"ErrorsWhileFinishingLevels", errors_while_finishing_levels},
    {"ErrorsWhilePutting", errors_while_putting},
    {"ErrorsWhileCalling", errors_while_calling},
    {"ErrorsWhileReducing", errors_while_reducing},
};

}  // namespace

std::span<const ConformanceCase> error_cases() { return cases_with_errors; }

}  // namespace nuice::test
