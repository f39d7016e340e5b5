// SPDX-License-Identifier: BSD-3-Clause
// Interrupts and the progress thread, between ranks that are threads. ThreadTest also runs under the thread
// sanitizer. InterruptTest does not, because the sanitizer delays signals until the next system call. Nap:
// waiting ranks if ranks outnumber cores.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include "am/transport/doorbell.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/am/level_sync.hpp"
#include "nuice/am/loopback.hpp"
#include "nuice/am/port.hpp"
#include "nuice/am/progress.hpp"
#include "nuice/core/error.hpp"

namespace nuice::test {
namespace {

using namespace std::chrono_literals;

struct Number {
  std::uint64_t value;
};

/// Computes without a call of the endpoint until done() or 20 s have passed. Returns whether it was done. It
/// naps for the sanitizer, which delivers signals in system calls only.
template <typename Done>
bool compute_until(Done&& done) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!done()) {
    std::this_thread::sleep_for(10us);
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return true;
}

void run_pair(const std::function<void(am::Endpoint&)>& program) {
  am::run_loopback({.num_ranks = 2, .concurrent = true}, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport));
    program(ep);
  });
}

/// Rank 0 asks, rank 1 answers without ever polling: `turn_on` makes the object that answers for it.
template <typename TurnOn>
void answers_while_computing(TurnOn&& turn_on) {
  run_pair([&](am::Endpoint& ep) {
    std::atomic<std::uint64_t> asked = 0;
    std::uint64_t answered = 0;
    const auto answer = ep.on<Number>("answer", [&](am::Context&, const Number& w) { answered += w.value; });
    const auto ask = ep.on<Number>("ask", [&](am::Context& c, const Number& w) {
      ++asked;
      c.reply(answer, w);
    });
    ep.seal();
    constexpr std::uint64_t count = 300;
    if (ep.rank() == 0) {
      for (std::uint64_t i = 1; i <= count; ++i) {
        ep.send(1, ask, Number{1});
        if (i % 3 != 0) ep.poll_until([&] { return answered == i; });  // mostly one by one, and sometimes
                                                                       // several at once
      }
      ep.poll_until([&] { return answered == count; });
    } else {
      const auto on = turn_on(ep);
      EXPECT_TRUE(compute_until([&] { return asked == count; }));
    }
    ep.quiesce();
  });
}

TEST(InterruptTest, AComputingRankAnswers) {
  answers_while_computing([](am::Endpoint& ep) { return std::make_unique<am::Interruptible>(ep); });
}

TEST(ThreadTest, AComputingRankAnswers) {
  answers_while_computing([](am::Endpoint& ep) { return std::make_unique<am::ProgressThread>(ep, 20us); });
}

/// The computing rank also calls the endpoint, and no message is lost or handled twice.
template <typename TurnOn>
void mixes_with_calls(TurnOn&& turn_on) {
  run_pair([&](am::Endpoint& ep) {
    std::uint64_t sum = 0;
    const auto add = ep.on<Number>("add", [&](am::Context&, const Number& w) { sum += w.value; });
    const auto twice = ep.on_call<Number, Number>(
        "twice", [](am::Context&, const Number& w) { return Number{2 * w.value}; });
    ep.seal();
    constexpr std::uint64_t count = 2000;
    {
      const auto on = turn_on(ep);
      for (std::uint64_t i = 1; i <= count; ++i) {
        ep.send(1 - ep.rank(), add, Number{i});
        if (i % 100 == 0) {
          EXPECT_EQ(ep.call(1 - ep.rank(), twice, Number{i}).get().value, 2 * i);
        }
        if (i % 50 == 0) {
          const am::Mask mask(ep);
          const std::uint64_t before = sum;
          std::this_thread::sleep_for(50us);
          EXPECT_EQ(sum, before);
        }
      }
      ep.quiesce();
      const am::Mask mask(ep);
      EXPECT_EQ(sum, count * (count + 1) / 2);
    }
    ep.quiesce();
  });
}

TEST(InterruptTest, MixesWithCallsAndMasks) {
  mixes_with_calls([](am::Endpoint& ep) { return std::make_unique<am::Interruptible>(ep); });
}

TEST(ThreadTest, MixesWithCallsAndMasks) {
  mixes_with_calls([](am::Endpoint& ep) { return std::make_unique<am::ProgressThread>(ep, 5us); });
}

TEST(InterruptTest, AnErrorIsThrownByTheNextPoll) {
  run_pair([](am::Endpoint& ep) {
    std::atomic<bool> ran = false;
    const auto fail = ep.on<am::Nothing>("fail", [&](am::Context&, const am::Nothing&) {
      ran = true;
      throw std::runtime_error("from a handler");
    });
    ep.seal();
    if (ep.rank() == 0) {
      ep.send(1, fail, {});
    } else {
      const am::Interruptible interrupts(ep);
      EXPECT_TRUE(compute_until([&] { return ran.load(); }));
      EXPECT_THROW(ep.poll(), std::runtime_error);
    }
    ep.quiesce();
  });
}

// Messages for which the endpoint would have to allocate or call MPI wait for the next poll, and so do the
// messages after them.
TEST(InterruptTest, PutsWaitForTheNextPoll) {
  std::atomic<bool> put = false;
  run_pair([&](am::Endpoint& ep) {
    am::PortRef ref;
    std::atomic<int> told = 0;
    const auto here = ep.on<am::PortRef>("here", [&](am::Context&, const am::PortRef& r) { ref = r; });
    const auto tell = ep.on<am::Nothing>("tell", [&](am::Context&, const am::Nothing&) { ++told; });
    ep.seal();
    std::vector<std::byte> memory(1000);
    int completed = 0;
    am::Port port = ep.open_port(memory, 1000, [&](am::Context&) { ++completed; });
    ep.send(1 - ep.rank(), here, port.ref());
    ep.quiesce();
    if (ep.rank() == 0) {
      ep.send(1, tell, {});
      ep.put(ref, 0, memory);
      ep.send(1, tell, {});
      put = true;
    } else {
      const am::Interruptible interrupts(ep);
      EXPECT_TRUE(compute_until([&] { return told == 1 && put; }));
      std::this_thread::sleep_for(2ms);
      EXPECT_EQ(completed, 0);
      EXPECT_EQ(told, 1);
      ep.poll();
      EXPECT_EQ(completed, 1);
      EXPECT_EQ(told, 2);
    }
    ep.quiesce();
  });
}

// Replies that find no room inside the signal handler are kept in reserved memory; when that is used up, the
// other messages wait.
TEST(InterruptTest, RepliesWithoutRoomAreKept) {
  std::atomic<bool> listening = false;
  std::atomic<bool> asked_all = false;
  std::atomic<bool> looked = false;
  am::run_loopback({.num_ranks = 2, .concurrent = true, .ring_bytes = 4096}, [&](auto transport) {
    am::Endpoint ep(std::move(transport), {.poll_every = 0});
    std::uint64_t next = 0;
    std::uint64_t asked = 0;
    const std::vector<std::byte> large(500);
    const auto answer =
        ep.on<Number>("answer", [&](am::Context&, const Number& w, am::Tail) { EXPECT_EQ(next++, w.value); });
    const auto ask = ep.on<Number>("ask", [&](am::Context& c, const Number& w) {
      ++asked;
      c.reply(answer, w, large);
    });
    ep.seal();
    constexpr std::uint64_t count = 100;
    if (ep.rank() == 0) {
      while (!listening) std::this_thread::yield();
      for (std::uint64_t i = 0; i < count; ++i) ep.send(1, ask, Number{i});
      asked_all = true;
      while (!looked) std::this_thread::yield();  // no reply is received before
      ep.quiesce();
      EXPECT_EQ(next, count);
    } else {
      {
        const am::Interruptible interrupts(ep);
        listening = true;
        EXPECT_TRUE(compute_until([&] { return asked_all.load(); }));
        std::this_thread::sleep_for(2ms);
        const am::Mask mask(ep);
        EXPECT_GT(asked, 10U);
        EXPECT_LT(asked, 30U);
        looked = true;
      }
      EXPECT_GT(ep.stats().most_deferred, 5U);
      ep.quiesce();
    }
    ep.quiesce();
  });
}

/// Every call that reads what handlers and flushes change must take the guard first.
template <typename TurnOn>
void calls_are_guarded(TurnOn&& turn_on) {
  run_pair([&](am::Endpoint& ep) {
    am::LevelSync* sync = nullptr;
    std::uint64_t sum = 0;
    std::uint64_t levels_seen = 0;
    const auto add = ep.on<Number>("add", [&](am::Context& c, const Number& w) {
      sum += w.value;
      if (sync != nullptr) levels_seen += sync->level_of(c.source());
      const auto until = std::chrono::steady_clock::now() + 20us;
      while (std::chrono::steady_clock::now() < until) {
      }
    });
    ep.seal();
    constexpr std::uint64_t rounds = 40;
    {
      const auto on = turn_on(ep);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        for (int i = 0; i < 10; ++i) ep.send(1 - ep.rank(), add, Number{1});
        std::this_thread::sleep_for(30us);  // handlers run now, in the other thread if there is one
        const std::int64_t one = 1;
        EXPECT_EQ(ep.reduce(am::ReduceOp::sum, {&one, 1})[0], 2);
        for (int i = 0; i < 10; ++i) ep.send(1 - ep.rank(), add, Number{1});
        am::LevelSync levels(ep, {1 - ep.rank()});
        {
          const am::Mask mask(ep);
          sync = &levels;
        }
        {
          am::Coalescer<Number> items(ep, add, {.buffer_bytes = 80, .max_age_us = 1});
          {
            const am::Mask mask(ep);
            for (int i = 0; i < 25; ++i) items.push(1 - ep.rank(), Number{1});
          }
          items.flush();
          EXPECT_GE(ep.stats().sent, 20U);
          levels.finish_level();
          ep.quiesce();
        }
        EXPECT_GE(levels.level_of(1 - ep.rank()), 1U);
        const am::Mask mask(ep);
        sync = nullptr;
      }
      ep.quiesce();
      const am::Mask mask(ep);
      EXPECT_EQ(sum, rounds * 45);
    }
    ep.quiesce();
  });
}

TEST(InterruptTest, CallsAreGuarded) {
  calls_are_guarded([](am::Endpoint& ep) { return std::make_unique<am::Interruptible>(ep); });
}

TEST(ThreadTest, CallsAreGuarded) {
  calls_are_guarded([](am::Endpoint& ep) { return std::make_unique<am::ProgressThread>(ep, 5us); });
}

TEST(InterruptTest, OnlyOneAndOnlyWhereTheTransportCan) {
  run_pair([](am::Endpoint& ep) {
    ep.seal();
    const am::Interruptible interrupts(ep);
    EXPECT_THROW(am::Interruptible another(ep), Error);
    EXPECT_THROW(am::ProgressThread thread(ep), Error);
    ep.quiesce();
  });
  am::run_loopback({.num_ranks = 1}, [](std::unique_ptr<am::Transport> transport) {
    am::Endpoint ep(std::move(transport));
    EXPECT_THROW(am::Interruptible interrupts(ep), Error);
    EXPECT_THROW(am::ProgressThread thread(ep), Error);
  });
}

// A rank that waits in no call takes no time from the computing rank while no messages arrive.
TEST(InterruptTest, NothingHappensWithoutMessages) {
  run_pair([](am::Endpoint& ep) {
    ep.seal();
    {
      const am::Interruptible interrupts(ep);
      std::this_thread::sleep_for(2ms);
    }
    EXPECT_EQ(ep.stats().interrupts, 0U);
    ep.quiesce();
  });
}

/// Returns the seconds that a nap of at most two seconds takes, while another thread repeatedly calls act()
/// on the bell.
template <typename Act>
double nap_during(am::Doorbell& bell, Act&& act) {
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) {
      act();
      std::this_thread::yield();
    }
  });
  const auto begun = std::chrono::steady_clock::now();
  am::sleep_on(bell, 2, [] { return false; });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  is_over = true;
  other.join();
  return taken.count();
}

TEST(Nap, IsEndedByAPush) {
  am::Doorbell bell{};
  am::RingControl control{};
  std::vector<std::uint64_t> words(std::size_t{1} << 16, 0);
  am::RingProducer ring(&control, reinterpret_cast<std::byte*>(words.data()), words.size() * 8, &bell);
  const auto push_to_sleeper =
      [&] {  // a rank that pushed earlier would fill the ring while the other gets no core
        if (bell.armed == am::Doorbell::asleep) (void)ring.try_push({}, nullptr, 0, nullptr, 0);
      };
  EXPECT_LT(nap_during(bell, push_to_sleeper), 1);
}

TEST(Nap, IsEndedByWaking) {
  am::Doorbell bell{};
  EXPECT_LT(nap_during(bell, [&] { am::wake(bell); }), 1);
  EXPECT_EQ(bell.armed, 0);
}

TEST(Nap, IsNotTakenWhereThereIsWork) {
  am::Doorbell bell{};
  const auto begun = std::chrono::steady_clock::now();
  am::sleep_on(bell, 2, [&] {
    EXPECT_EQ(bell.armed, am::Doorbell::asleep);  // a rank that makes work from here on wakes this rank
    return true;
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
}

TEST(Nap, EndsByItself) {
  am::Doorbell bell{};
  const auto begun = std::chrono::steady_clock::now();
  am::sleep_on(bell, 0.01, [] { return false; });
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(9));
}

TEST(Nap, WakingLeavesASignalArmed) {
  am::Doorbell bell{};
  bell.armed = SIGUSR1;
  am::wake(bell);
  EXPECT_EQ(bell.armed, SIGUSR1);
}

}  // namespace
}  // namespace nuice::test
