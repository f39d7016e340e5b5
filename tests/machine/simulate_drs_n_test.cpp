// SPDX-License-Identifier: BSD-3-Clause
// DRS_N in simulation; refusals and time-outs that are counted, not simulated one by one; interrupts.
#include <gtest/gtest.h>

#include <ctime>
#include <tuple>

#include "machine/simulated.hpp"
#include "nuice/core/interrupt.hpp"
#include "nuice/nuice.hpp"
#include "nuice/plan/simulate.hpp"
#include "support/sanitized.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using namespace test;

TEST(SimulateDrsN, DeliversEverythingToOneSenderAtATime) {
  for (const auto& [name, machine] : all_cases()) {
    if (machine.am_send_s + machine.am_latency_s + machine.am_handler_s == 0) continue;
    SCOPED_TRACE(name);
    const Simulation result = simulate_drs_n(law_matrix(), machine, {.seed = 3});
    for (MessageId id = 0; id < law_matrix().num_messages(); ++id) {
      ASSERT_EQ(result.delivered[id], law_matrix().bytes(id));
    }
    EXPECT_EQ(result.node_contention, 0U);
    EXPECT_EQ(result.inquiries, result.refusals + law_matrix().num_messages());
    EXPECT_EQ(result.seconds, simulate_drs_n(law_matrix(), machine, {.seed = 3}).seconds);
    const Simulation patient = simulate_drs_n(law_matrix(), machine, {.seed = 3, .retry_delay_s = 1e-3});
    EXPECT_LE(patient.inquiries, result.inquiries);
  }
}

TEST(SimulateDrsN, GetsOnHoweverManyAsk) {
  Machine machine = plain("crossbar:32");
  machine.am_send_s = machine.am_handler_s = 10e-6;
  machine.am_latency_s = 5e-6;
  const CommMatrix matrix = random_regular(32, 31, {.unit_bytes = 1000}, 1);
  const Simulation eager = simulate_drs_n(matrix, machine, {});
  EXPECT_LT(eager.seconds, 1);
  EXPECT_GT(eager.refusals, 1000U);
  machine.am_retry_s = 1e-3;
  EXPECT_LT(simulate_drs_n(matrix, machine, {}).refusals, eager.refusals / 2);
}

TEST(SimulateDrsN, OneMessageIsAskedForAndReleased) {
  Machine machine = plain("crossbar:2");
  machine.am_send_s = 1e-6;
  machine.am_latency_s = 2e-6;
  machine.am_handler_s = 3e-6;
  const Simulation result = simulate_drs_n(messages(2, {{0, 1, 1000}}), machine, {});
  const double ask = 1e-6 + 2e-6 + 3e-6 + 2e-6 + 3e-6;
  expect_close(result.ranks[1].finished_s, ask + 10e-6 + 1000e-6);
  expect_close(result.seconds, ask + 10e-6 + 1000e-6 + 1e-6);
  EXPECT_EQ(result.inquiries, 1U);
  EXPECT_EQ(result.refusals, 0U);
}

/// All numbers of a run.
auto figures(const Simulation& run) {
  return std::tuple(run.seconds, run.inquiries, run.refusals, run.node_contention, run.transfers);
}

TEST(SimulateDrsN, AListTakesOneInquiryForAMessage) {
  const std::size_t count = law_matrix().num_messages();
  for (const auto& [name, machine] : all_cases()) {
    if (machine.am_send_s + machine.am_latency_s + machine.am_handler_s == 0) continue;
    SCOPED_TRACE(name);
    for (const Bytes early : {0, 300, 1 << 30}) {
      const DrsOptions options{.seed = 3, .when_busy = DrsWhenBusy::list, .early_bytes = early};
      const Simulation result = simulate_drs_n(law_matrix(), machine, options);
      for (MessageId id = 0; id < count; ++id) ASSERT_EQ(result.delivered[id], law_matrix().bytes(id));
      EXPECT_EQ(result.inquiries, count);
      EXPECT_LE(result.refusals, count);
      if (early == 0) {
        EXPECT_EQ(result.node_contention, 0U);
      }
      EXPECT_EQ(figures(result), figures(simulate_drs_n(law_matrix(), machine, options)));
    }
  }
}

// Three senders, one receiver: inquiries arrive together, one is granted, two wait. Refusing costs more inquiries;
// granting early hides the round trip between two messages.
TEST(SimulateDrsN, AHotReceiverGrantsInTurn) {
  Machine machine = plain("crossbar:4");
  machine.am_send_s = 1e-6;
  machine.am_latency_s = 20e-6;
  machine.am_handler_s = 3e-6;
  machine.send_overhead_s = machine.receive_overhead_s = machine.async_send_s = 0;
  machine.start_up_s = 0;
  const CommMatrix matrix = messages(4, {{1, 0, 1000}, {2, 0, 1000}, {3, 0, 1000}});
  const auto run = [&](DrsWhenBusy when_busy, Bytes early) {
    return simulate_drs_n(matrix, machine, {.when_busy = when_busy, .early_bytes = early});
  };
  const Simulation refuse = run(DrsWhenBusy::refuse, 0);
  const Simulation list = run(DrsWhenBusy::list, 0);
  const Simulation early = run(DrsWhenBusy::list, 100);
  const Simulation at_once = run(DrsWhenBusy::list, 1000);
  EXPECT_GT(refuse.inquiries, 3U);
  EXPECT_EQ(list.inquiries, 3U);
  EXPECT_EQ(list.refusals, 2U);
  const double asked = 1e-6 + 20e-6 + 3e-6 + 20e-6 + 3e-6;  // ask, on the way, handler, back, handler
  const double granted = 1e-6 + 20e-6 + 3e-6;               // by the receiver, when a message is there
  expect_close(list.seconds, asked + 3 * 1000e-6 + 2 * granted);
  EXPECT_LT(early.seconds, list.seconds - granted);
  EXPECT_LT(early.seconds, refuse.seconds);
  EXPECT_EQ(early.transfers, 6U);
  EXPECT_EQ(at_once.transfers, 3U);
  EXPECT_EQ(list.node_contention, 0U);
  EXPECT_GT(at_once.node_contention, 0U);
}

TEST(SimulateDrsN, FormsHaveNames) {
  for (const DrsWhenBusy form : {DrsWhenBusy::refuse, DrsWhenBusy::list})
    EXPECT_EQ(find_when_busy(when_busy_name(form)), form);
  EXPECT_ERROR(find_when_busy("ask"), ErrorCode::invalid_argument, {"\"ask\"; known: refuse, list"});
}

/// Ranks 1 to 3 send rank 0 that many bytes each, on a CM-5 whose ranks ask again and again.
CommMatrix three_to_one(Bytes bytes) { return messages(4, {{1, 0, bytes}, {2, 0, bytes}, {3, 0, bytes}}); }

TEST(Repeats, AreCountedAsTheyWouldHaveCome) {
  if (test::is_sanitized) GTEST_SKIP() << "about figures";
  const Machine machine = find_machine("cm5-32");
  for (const Bytes bytes : {Bytes{5'000'000}, Bytes{20'000'000}}) {
    const CommMatrix matrix = three_to_one(bytes);
    const Simulation exact = simulate_drs_n(matrix, machine, {.refusals_one_by_one = ~0ULL});
    const Simulation counted = simulate_drs_n(matrix, machine, {.refusals_one_by_one = 0});
    ASSERT_GT(exact.refusals, 100'000U);
    EXPECT_NEAR(counted.seconds / exact.seconds, 1, 1e-6);
    const auto refusals = static_cast<double>(exact.refusals);
    EXPECT_NEAR(static_cast<double>(counted.refusals) / refusals, 1, 1e-4);
    EXPECT_NEAR(static_cast<double>(counted.inquiries) / static_cast<double>(exact.inquiries), 1, 1e-4);
    EXPECT_EQ(counted.delivered, exact.delivered);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const RankTimes& a = counted.ranks[rank];
      const RankTimes& b = exact.ranks[rank];
      EXPECT_NEAR(a.finished_s, b.finished_s, 1e-5 * exact.seconds) << rank;
      EXPECT_NEAR(a.software_s, b.software_s, 1e-4 * exact.seconds) << rank;
      EXPECT_NEAR(a.waiting_s, b.waiting_s, 1e-4 * exact.seconds) << rank;
      EXPECT_NEAR(a.idle_s, b.idle_s, 1e-4 * exact.seconds) << rank;
    }
  }
}

TEST(Repeats, OfManyRanksWithSeveralDestinations) {
  if (test::is_sanitized) GTEST_SKIP() << "about figures";
  const Machine machine = find_machine("cm5-32");
  std::vector<Message> many;
  for (Rank src = 0; src < 8; ++src)
    for (Rank dst = 0; dst < 8; ++dst)
      if (src != dst) many.push_back({src, dst, 3'000'000 + 100'000 * ((src * 7 + dst * 3) % 11)});
  const CommMatrix matrix = messages(8, many);
  const Simulation exact = simulate_drs_n(matrix, machine, {.refusals_one_by_one = ~0ULL});
  const Simulation counted = simulate_drs_n(matrix, machine, {.refusals_one_by_one = 0});
  ASSERT_GT(exact.refusals, 100'000U);
  EXPECT_NEAR(counted.seconds / exact.seconds, 1, 3e-2);  // another rank may come first at a lock
  EXPECT_EQ(counted.delivered, exact.delivered);
}

TEST(Repeats, OfTerabytesEnd) {
  const std::clock_t begin = std::clock();  // of the processor: the machine may be busy
  const Machine cm5 = find_machine("cm5-32");
  const Simulation run = simulate_drs_n(three_to_one(Bytes{1} << 40), cm5);
  EXPECT_GE(run.seconds, port_bound_s(three_to_one(Bytes{1} << 40), cm5));
  EXPECT_GT(run.refusals, 1'000'000'000U);
  Machine slow = cm5;
  slow.start_up_s = 1e6;
  EXPECT_GT(simulate_drs_n(three_to_one(1000), slow).seconds, 3e6);
  slow.start_up_s = 1e12;  // an inquiry would no longer take time compared with it
  EXPECT_EQ(code_of([&] { simulate_drs_n(three_to_one(1000), slow); }), ErrorCode::invalid_argument);
  slow = cm5;
  slow.byte_s = 1;  // nor compared with a petabyte of these
  EXPECT_EQ(code_of([&] { simulate_drs_n(three_to_one(Bytes{1} << 50), slow); }), ErrorCode::limit);
  EXPECT_LT(std::clock() - begin, std::clock_t{60} * CLOCKS_PER_SEC);
}

// The same of a full queue, which turns senders away.
TEST(Repeats, OfTimeouts) {
  Machine machine = plain("crossbar:4");
  machine.queue_senders = 1;
  machine.queue = 1000;
  machine.timeout_s = 1e-6;
  const CommMatrix matrix = three_to_one(Bytes{1} << 40);
  const Schedule at_once = make_schedule(matrix, "ac");
  const Simulation run = simulate(matrix, at_once, machine, {.executor = "async"});
  EXPECT_NEAR(run.seconds / (3.0 * static_cast<double>(Bytes{1} << 40) * machine.byte_s), 1, 1e-2);
  EXPECT_GT(run.timeouts, 1'000'000'000U);
}

TEST(Interrupts, EndASimulation) {
  struct Stopped {};
  const InterruptCheck check([calls = 0]() mutable {
    if (++calls == 1000) throw Stopped();
  });
  EXPECT_THROW(simulate_drs_n(three_to_one(20'000'000), find_machine("cm5-32")), Stopped);
}

}  // namespace
}  // namespace nuice
