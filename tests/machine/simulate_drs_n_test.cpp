// SPDX-License-Identifier: BSD-3-Clause
// DRS_N in simulation; refusals and timeouts without end; interrupts.
#include <gtest/gtest.h>

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

/// Ranks 1 to 3 send rank 0 that many bytes each, on a CM-5 whose ranks ask again and again.
CommMatrix three_to_one(Bytes bytes) { return messages(4, {{1, 0, bytes}, {2, 0, bytes}, {3, 0, bytes}}); }

TEST(Repeats, WithoutEndAreRefused) {
  if (test::is_sanitized) GTEST_SKIP() << "millions of events";
  const Machine cm5 = find_machine("cm5-32");
  EXPECT_ERROR(simulate_drs_n(three_to_one(Bytes{1} << 40), cm5), ErrorCode::limit, {"retry_delay_s"});
  Machine slow = cm5;
  slow.start_up_s = 1e12;  // an inquiry would no longer take time compared with it
  EXPECT_ERROR(simulate_drs_n(three_to_one(1000), slow), ErrorCode::invalid_argument, {});
  // The same of a full queue, which turns senders away.
  Machine machine = plain("crossbar:4");
  machine.queue_senders = 1;
  machine.queue = 1000;
  machine.timeout_s = 1e-6;
  const CommMatrix matrix = three_to_one(Bytes{1} << 40);
  EXPECT_ERROR(simulate(matrix, make_schedule(matrix, "ac"), machine, {.executor = "async"}),
               ErrorCode::limit, {"timeouts of a full queue"});
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
