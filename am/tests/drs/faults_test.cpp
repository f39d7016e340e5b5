// SPDX-License-Identifier: BSD-3-Clause
// DRS_N in a program whose handlers throw, with interrupts and a progress thread, and with objects that are
// destroyed early.
#include <chrono>
#include <stdexcept>

#include "drs/drs_support.hpp"
#include "nuice/am/loopback.hpp"
#include "nuice/am/progress.hpp"
#include "support/throws.hpp"

namespace nuice::test {
namespace {

const drs::Options every_way[] = {
    {}, {.when_busy = drs::WhenBusy::list}, {.when_busy = drs::WhenBusy::list, .early_bytes = 5000}};

/// A rank with a handler of the program that throws.
class Rogue {
 public:
  explicit Rogue(std::unique_ptr<am::Transport> transport, int poll_every)
      : endpoint(std::move(transport), {.poll_every = poll_every}),
        exchanger(endpoint),
        trouble_(endpoint.on<am::Nothing>("trouble", [this](am::Context&, const am::Nothing&) {
          ++thrown;
          throw std::runtime_error("trouble");
        })) {
    endpoint.seal();
  }

  Rank rank() const { return endpoint.rank(); }
  /// Runs the step and counts the errors of the handler that it throws.
  void bear(const std::function<void()>& step) {
    try {
      step();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "trouble");
      ++caught;
    }
  }
  void trouble_all(int times) {
    for (int i = 0; i < times; ++i)
      for (Rank dst = 0; dst < endpoint.num_ranks(); ++dst) bear([&] { endpoint.send(dst, trouble_, {}); });
  }
  Bind binder() {
    return [this](auto destinations, auto sources, auto send, auto receive, const drs::Options& options) {
      return exchanger.bind(destinations, sources, send, receive, options);
    };
  }

  am::Endpoint endpoint;
  drs::Exchanger exchanger;
  int thrown = 0;
  int caught = 0;

 private:
  am::Handler<am::Nothing> trouble_;
};

/// Runs ranks one at a time, at the same time, and with delayed messages; polling rarely and at every send.
void with_rogues(Rank num_ranks, const std::function<void(Rogue&)>& program) {
  for (const bool concurrent : {false, true})
    for (const int poll_every : {1, 16}) {
      const am::LoopbackOptions options{
          .num_ranks = num_ranks, .concurrent = concurrent, .seed = 4, .ring_bytes = 1U << 14};
      am::run_loopback(options, [&](std::unique_ptr<am::Transport> transport) {
        if (!concurrent) transport = am::with_chaos(std::move(transport), {.seed = 9});
        Rogue rogue(std::move(transport), poll_every);
        program(rogue);
        rogue.bear([&] { rogue.endpoint.quiesce(); });
        EXPECT_GT(rogue.caught, 0);
        EXPECT_GE(rogue.thrown, rogue.caught);
      });
    }
}

TEST(DrsFaults, AHandlersErrorComesWhenTheExchangeIsComplete) {
  const CommMatrix matrix = drs_matrices(4).at(5).matrix;
  with_rogues(4, [&](Rogue& rogue) {
    for (const drs::Options& options : every_way) {
      BoundDrs bound(matrix, rogue.rank(), rogue.binder(), options);
      BoundDrs other(matrix, rogue.rank(), rogue.binder(), options);
      for (unsigned round = 0; round < 4; ++round) {
        bound.refill(round);
        other.refill(round + 1);
        bound.exchange.start();
        other.exchange.start();
        rogue.trouble_all(3);
        if (round % 2 == 0) {
          rogue.bear([&] { bound.exchange.wait(); });
        } else {
          bool complete = false;
          while (!complete) rogue.bear([&] { complete = bound.exchange.test(); });
        }
        rogue.bear([&] { other.exchange.wait(); });
        bound.expect_received(round);
        other.expect_received(round + 1);
      }
    }
  });
}

TEST(DrsFaults, CollectiveCallsKeepHandlersErrorsForTheNextPoll) {
  const NamedMatrix named = drs_matrices(4).at(5);
  with_rogues(4, [&](Rogue& rogue) {
    const Rank rank = rogue.rank();
    for (int round = 0; round < 3; ++round) {
      rogue.trouble_all(2);
      EXPECT_EQ(rogue.exchanger.sources(drs_row(named.matrix, rank)), drs_column(named.matrix, rank));
      rogue.trouble_all(2);
      const std::vector<Partner> wrong = {{rank >= 2 ? 7 : 0, 1}};
      expect_error([&] { rogue.exchanger.sources(wrong); }, ErrorCode::invalid_argument,
                   {"rank 2 -> rank 7"});
      rogue.trouble_all(2);
      const std::vector<Partner> none;
      expect_error([&] { rogue.exchanger.bind(none, wrong, {}, std::vector<ReceiveBuffer>(1), {}); },
                   ErrorCode::invalid_argument, {"rank"});
      rogue.trouble_all(2);
      BoundDrs bound(named.matrix, rank, rogue.binder(), {});
      bound.exchange.start();
      rogue.bear([&] { bound.exchange.wait(); });
    }
  });
}

TEST(DrsFaults, AStationMayEndBeforeTheLastReleaseComes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    am::run_loopback({.num_ranks = 3, .seed = seed}, [&](std::unique_ptr<am::Transport> transport) {
      am::Endpoint endpoint(am::with_chaos(std::move(transport), {.seed = seed, .delay = 0.8}));
      auto exchanger = std::make_unique<drs::Exchanger>(endpoint);
      endpoint.seal();
      const Bind bind = [&](auto to, auto from, auto send, auto receive, const drs::Options& options) {
        return exchanger->bind(to, from, send, receive, options);
      };
      BoundDrs bound(drs_matrices(3).at(2).matrix, endpoint.rank(), bind, {});
      bound.exchange.start();
      bound.exchange.wait();
      bound.exchange.free();
      exchanger.reset();
      endpoint.quiesce();
    });
}

TEST(DrsFaults, AHandlerMayNotWait) {
  am::run_loopback({.num_ranks = 1}, [](std::unique_ptr<am::Transport> transport) {
    am::Endpoint endpoint(std::move(transport));
    drs::Exchanger exchanger(endpoint);
    drs::Exchange* bound = nullptr;
    const auto wait =
        endpoint.on<am::Nothing>("wait", [&](am::Context&, const am::Nothing&) { bound->wait(); });
    endpoint.seal();
    drs::Exchange exchange = exchanger.bind({}, {}, {}, {});
    bound = &exchange;
    exchange.start();
    endpoint.send(0, wait, {});
    expect_error([&] { endpoint.poll(); }, ErrorCode::state, {"handler"});
    exchange.wait();
    endpoint.quiesce();
  });
}

/// Computes. It must not sleep, because every signal during nanosleep() adds Linux's timer slack of 50 us to
/// the remaining time: with many refused and repeated inquiries the sleep would never end.
void be_busy(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Runs many rounds on ranks that compute between their calls and answer meanwhile.
template <typename TurnOn>
void expect_rounds(TurnOn&& turn_on) {
  const CommMatrix matrix = random_density(3, 0.9, {.unit_bytes = 300, .max_units = 20}, 4);
  am::run_loopback({.num_ranks = 3, .concurrent = true}, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint endpoint(std::move(transport));
    drs::Exchanger exchanger(endpoint);
    endpoint.seal();
    const Bind bind = [&](auto to, auto from, auto send, auto receive, const drs::Options& options) {
      return exchanger.bind(to, from, send, receive, options);
    };
    const auto on = turn_on(endpoint);
    for (const drs::Options& options : every_way) {
      EXPECT_EQ(exchanger.sources(drs_row(matrix, endpoint.rank())), drs_column(matrix, endpoint.rank()));
      BoundDrs bound(matrix, endpoint.rank(), bind, options);
      for (unsigned round = 0; round < 8; ++round) {
        bound.exchange.start();
        if (round % 4 == static_cast<unsigned>(endpoint.rank())) be_busy(std::chrono::microseconds(50));
        bound.exchange.wait();
        if (round == 0) bound.expect_received(0);
      }
    }
    endpoint.quiesce();
  });
}

/// Rank 1 is a round ahead and asks while rank 0 begins its own round, which takes long because it copies a
/// message to itself.
template <typename TurnOn>
void expect_questions_at_a_start(TurnOn&& turn_on) {
  const CommMatrix matrix = CommMatrix::from_messages(2, {{{0, 0, 8'000'000}, {1, 0, 100}}});
  am::run_loopback({.num_ranks = 2, .concurrent = true}, [&](std::unique_ptr<am::Transport> transport) {
    am::Endpoint endpoint(std::move(transport));
    drs::Exchanger exchanger(endpoint);
    endpoint.seal();
    const Bind bind = [&](auto to, auto from, auto send, auto receive, const drs::Options& options) {
      return exchanger.bind(to, from, send, receive, options);
    };
    BoundDrs bound(matrix, endpoint.rank(), bind, {});
    const auto on = turn_on(endpoint);
    for (int round = 0; round < 5; ++round) {
      bound.exchange.start();
      bound.exchange.wait();
    }
    bound.expect_received(0);
    endpoint.quiesce();
  });
}

const auto interrupts = [](am::Endpoint& ep) { return std::make_unique<am::Interruptible>(ep); };
const auto thread = [](am::Endpoint& ep) {
  return std::make_unique<am::ProgressThread>(ep, std::chrono::microseconds(5));
};

TEST(DrsProgress, WithInterrupts) { expect_rounds(interrupts); }
TEST(DrsProgress, WithAThread) { expect_rounds(thread); }
TEST(DrsProgress, AnInterruptFindsARoundBegunOrNot) { expect_questions_at_a_start(interrupts); }
TEST(DrsProgress, AThreadFindsARoundBegunOrNot) { expect_questions_at_a_start(thread); }

}  // namespace
}  // namespace nuice::test
