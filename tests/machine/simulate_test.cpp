// SPDX-License-Identifier: BSD-3-Clause
// The simulator against closed forms.
#include "nuice/plan/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/simulated.hpp"
#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using namespace test;

constexpr const char* executor_names[] = {"async", "phased", "pairwise"};

TEST(Simulate, OneMessageTakesWhatTheFormulaSays) {
  Machine machine = plain("hypercube:3");
  machine.send_overhead_s = 1e-6;
  machine.receive_overhead_s = 2e-6;
  machine.latency_s = 3e-6;
  machine.hop_s = 4e-6;
  machine.packet_payload = 16;
  machine.packet_header = 4;
  const CommMatrix matrix = messages(8, {{0, 7, 1000}});
  const double asynchronous = 1e-6 + 10e-6 + 63 * 20 * 1e-6 + 3e-6 + 3 * 4e-6 + 2e-6;
  for (const char* const executor : executor_names) {
    machine.eager_limit = 1000;
    expect_close(run(matrix, machine, "ac", executor).seconds, asynchronous);
    machine.eager_limit = 999;
    machine.handshake_s = 50e-6;
    expect_close(run(matrix, machine, "ac", executor).seconds, asynchronous + 50e-6);
  }
}

TEST(Simulate, APermutationWithoutContentionTakesAsLongAsOneMessage) {
  const CommMatrix matrix = shift(16, 3, 5000);
  for (const char* const executor : executor_names) {
    const Simulation result = run(matrix, plain("crossbar:16"), "ac", executor);
    expect_close(result.seconds, 10e-6 + 5000e-6);
    EXPECT_EQ(result.node_contention, 0U);
    for (const RankTimes& times : result.ranks) EXPECT_NEAR(times.idle_s, 0, 1e-15);
  }
}

TEST(Simulate, HalfDuplexPortsTakeTwiceAsLong) {
  Machine machine = plain("crossbar:16");
  machine.duplex = Duplex::half;
  expect_close(run(shift(16, 3, 5000), machine).seconds, 10e-6 + 2 * 5000e-6);
}

TEST(Simulate, OnlyExchangesThatMeetUseBothWaysOfPairedPorts) {
  Machine machine = plain("crossbar:2");
  machine.duplex = Duplex::paired;
  const CommMatrix matrix = shift(2, 1, 5000);
  expect_close(run(matrix, machine, "ac", "phased").seconds, 10e-6 + 2 * 5000e-6);
  expect_close(run(matrix, machine, "ac", "pairwise").seconds, 10e-6 + 5000e-6);
  machine.duplex = Duplex::half;  // one after the other: the lower rank receives first
  expect_close(run(matrix, machine, "ac", "pairwise").seconds, 2 * (10e-6 + 5000e-6));
}

TEST(Simulate, AHotSpotIsAsSlowAsItsPort) {
  std::vector<Message> entries;
  for (Rank rank = 1; rank < 9; ++rank) entries.push_back({rank, 0, 1000});
  const CommMatrix matrix = messages(9, entries);
  Machine machine = plain("crossbar:9");
  expect_close(run(matrix, machine).seconds, 10e-6 + 8 * 1000e-6);
  machine.loss_per_sender = 0.1;
  machine.loss_most = 0.5;
  expect_close(run(matrix, machine).seconds, 10e-6 + 8 * 1000e-6 * 1.5);
  machine.loss_most = 10;
  expect_close(run(matrix, machine).seconds, 10e-6 + 8 * 1000e-6 * 1.7);
  EXPECT_EQ(run(matrix, machine).node_contention, 7U);
  machine.receives_at_once = 1;  // one after the other: no loss
  expect_close(run(matrix, machine).seconds, 10e-6 + 8 * 1000e-6);
}

TEST(Simulate, ReceiversThatSendHaveTheirOwnLoss) {
  Machine machine = plain("crossbar:4");
  machine.loss_per_sender_sending = 1;
  machine.loss_most_sending = 1;
  const std::vector<Message> two_to_one = {{1, 0, 1000}, {2, 0, 1000}};
  expect_close(run(messages(4, two_to_one), machine).seconds, 10e-6 + 2000e-6);
  auto and_out = two_to_one;
  and_out.push_back({0, 3, 100'000});
  const Simulation result = run(messages(4, and_out), machine);
  expect_close(result.ranks[1].finished_s, 10e-6 + 4000e-6);
}

TEST(Simulate, AFullQueueCostsTimeouts) {
  Machine machine = plain("crossbar:3");
  machine.queue_senders = 1;
  machine.timeout_s = 0.2;
  const Simulation result = run(messages(3, {{1, 0, 1000}, {2, 0, 1000}}), machine);
  expect_close(result.seconds, 10e-6 + 0.2 + 1000e-6);
  EXPECT_EQ(result.timeouts, 1U);
  machine.queue = 2000;  // both fit
  expect_close(run(messages(3, {{1, 0, 1000}, {2, 0, 1000}}), machine).seconds, 10e-6 + 2000e-6);
}

TEST(Simulate, SharedLinksAreMaxMinFair) {
  // Ranks 0 and 1 of a line both send over the link 1 -> 2; 0's message to 1 has link and port to itself.
  const CommMatrix matrix = messages(4, {{0, 2, 1000}, {1, 3, 1000}});
  const Simulation result = run(matrix, plain("mesh:4"));
  expect_close(result.seconds, 10e-6 + 2000e-6);
  EXPECT_EQ(result.link_contention, 1U);
}

TEST(Simulate, CircuitsBlockUntilAllLinksAreFree) {
  Machine machine = plain("mesh:4");
  machine.switching = Switching::circuit;
  const CommMatrix matrix = messages(4, {{0, 2, 1000}, {1, 3, 500}});
  const Simulation result = run(matrix, machine);
  expect_close(result.seconds, 10e-6 + 1500e-6);
  expect_close(result.ranks[1].blocked_s, 1000e-6);
  EXPECT_EQ(result.link_contention, 1U);
}

TEST(Simulate, PhasesCostWhatTheySay) {
  Machine machine = plain("crossbar:4");
  machine.phase_s = 5e-6;
  std::vector<Message> entries;
  for (Rank rank = 0; rank < 4; ++rank) {
    for (Rank by = 1; by < 4; ++by) entries.push_back({rank, (rank + by) % 4, 1000});
  }
  const CommMatrix matrix = messages(4, entries);
  expect_close(run(matrix, machine, "lp", "phased").seconds, 3 * (5e-6 + 10e-6 + 1000e-6));
}

TEST(Simulate, UnexpectedMessagesAreCopied) {
  // Rank 2 is in its first phase until 10 ms; rank 0's message of the second phase comes at 2 ms.
  Schedule schedule(3);
  const CommMatrix matrix = messages(3, {{0, 2, 1000}, {1, 2, 10'000}});
  schedule.begin_phase();
  schedule.add_whole(matrix, 1);
  schedule.begin_phase();
  schedule.add_whole(matrix, 0);
  Machine machine = plain("crossbar:3");
  machine.copy_byte_s = 1e-6;
  machine.receives_at_once = 0;
  const double both = 10e-6 + 11'000e-6;  // they share the port
  expect_close(simulate(matrix, schedule, machine).seconds, both + 1000e-6);
  machine.eager_limit = 0;  // the sender waits for the receive instead
  expect_close(simulate(matrix, schedule, machine).seconds, 2 * 10e-6 + 11'000e-6);
  machine.eager_limit = max_bytes;
  machine.buffer_limit = 999;  // and so it does when it does not fit into the buffer
  expect_close(simulate(matrix, schedule, machine).seconds, 2 * 10e-6 + 11'000e-6);
}

TEST(Simulate, WhatDoesNotFitIntoMemoryIsSlower) {
  Machine machine = plain("crossbar:4");
  machine.memory_limit = 1500;
  machine.memory_slowdown = 3;
  expect_close(run(shift(4, 1, 1000), machine).seconds, 10e-6 + 1500e-6);  // a quarter three times slower
  machine.memory_limit = 2000;
  expect_close(run(shift(4, 1, 1000), machine).seconds, 10e-6 + 1000e-6);
}

TEST(Simulate, WhatIsUnderWayAtOnceIsHeldTwice) {
  Machine machine = plain("crossbar:4");
  machine.memory_limit = 2000;
  machine.memory_slowdown = 3;
  machine.async_copies = true;
  const CommMatrix matrix = shift(4, 1, 1000);
  expect_close(run(matrix, machine, "ac", "async").seconds, 10e-6 + 2000e-6);  // half of 4000
  expect_close(run(matrix, machine, "ac", "phased").seconds, 10e-6 + 1000e-6);
  machine.memory_limit = 4000;
  expect_close(run(matrix, machine, "ac", "async").seconds, 10e-6 + 1000e-6);
  machine.am_send_s = 1e-6;
  machine.memory_limit = 1500;  // drs_n has posted all its receives: 1000 out, 1000 in, twice
  const double slow = simulate_drs_n(matrix, machine, {}).seconds;
  machine.memory_limit = 3000;
  expect_close(slow - simulate_drs_n(matrix, machine, {}).seconds, 1000e-6);
}

TEST(Simulate, TwoThatExchangeSaveAPartOfTheirOverhead) {
  Machine machine = plain("crossbar:4");
  machine.send_overhead_s = 300e-6;
  machine.exchange_saves_s = 100e-6;
  const CommMatrix exchange = messages(4, {{0, 1, 1000}, {1, 0, 1000}});
  const CommMatrix ring = shift(4, 1, 1000);
  for (const char* const executor : {"phased", "pairwise"}) {
    expect_close(run(exchange, machine, "lp", executor).seconds, 200e-6 + 10e-6 + 1000e-6);
    expect_close(run(ring, machine, "rs_n", executor).seconds, 300e-6 + 10e-6 + 1000e-6);
  }
  machine.exchange_saves_s = 301e-6;
  EXPECT_ERROR(run(ring, machine), ErrorCode::invalid_argument, {"exchange_saves"});
}

TEST(Simulate, ACircuitMayHoldLinksWhileItWaits) {
  // 2 -> 3 is on its way; 0 -> 3 has the links 0-1 and 1-2 and waits for 2-3; 1 -> 2 needs one of these.
  const CommMatrix matrix = messages(4, {{0, 3, 1000}, {1, 2, 1000}, {2, 3, 1000}});
  Schedule schedule(4);
  schedule.begin_phase();
  schedule.add_whole(matrix, 2);
  schedule.begin_phase();
  schedule.add_whole(matrix, 0);
  schedule.begin_phase();
  schedule.add_whole(matrix, 1);
  Machine machine = plain("mesh:4");
  machine.switching = Switching::circuit;
  machine.receives_at_once = 1;
  expect_close(simulate(matrix, schedule, machine).seconds, 10e-6 + 2000e-6);
  machine.holds_while_waiting = true;
  const Simulation held = simulate(matrix, schedule, machine);
  expect_close(held.seconds, 10e-6 + 3000e-6);
  EXPECT_EQ(held.link_contention, 2U);
}

TEST(Machine, TheControlNetworkTakesAWordAtATime) {
  Machine machine = plain("crossbar:32");
  machine.send_overhead_s = 100e-6;
  EXPECT_EQ(control_broadcast_s(machine, 1000), 0);
  const double by_messages = concatenation_s(machine, 32);  // 5 rounds, 31 rows of 128 bytes in all
  expect_close(by_messages, 5 * 110e-6 + 31 * 128e-6);
  expect_close(discovery_s(machine, 32, 4), 5 * 110e-6 + 124e-6 + 4 * 110e-6);
  machine.control_word_s = 6e-6;
  machine.control_sum_s = 10e-6;
  machine.am_entry_s = 25e-6;
  expect_close(concatenation_s(machine, 32), 32 * 32 * 6e-6);
  expect_close(discovery_s(machine, 32, 4), 32 * 10e-6 + 4 * 25e-6);
  expect_close(control_broadcast_s(machine, 1001), 251 * 6e-6);
}

TEST(Simulate, AProcessorThatMovesBytesCannotDoBoth) {
  Machine machine = plain("crossbar:3");
  machine.send_overhead_s = 300e-6;
  machine.start_up_s = 0;
  const CommMatrix matrix = messages(3, {{0, 1, 1000}, {0, 2, 1000}});
  expect_close(run(matrix, machine, "ac", "async", false).seconds, 300e-6 + 2000e-6);
  machine.processor_moves_bytes = true;
  expect_close(run(matrix, machine, "ac", "async", false).seconds, 600e-6 + 2000e-6);
}

TEST(Simulate, ForwardedBytesWaitForTheirArrival) {
  std::vector<Message> entries;
  for (Rank rank = 0; rank < 8; ++rank) entries.push_back({rank, rank ^ 5, 1000});
  const CommMatrix matrix = messages(8, entries);
  const Schedule schedule = make_schedule(matrix, "rex");
  for (const char* const executor : executor_names) {
    const Simulation result = simulate(matrix, schedule, plain("crossbar:8"), {.executor = executor});
    EXPECT_TRUE(std::ranges::all_of(result.delivered, [](Bytes bytes) { return bytes == 1000; }));
    expect_close(result.seconds, 2 * (10e-6 + 1000e-6));  // 5 = 101 in bits: two hops
  }
}

TEST(Simulate, BadInputIsRefused) {
  const CommMatrix matrix = shift(4, 1, 10);
  const Schedule schedule = make_schedule(matrix, "ac");
  EXPECT_ERROR(simulate(matrix, schedule, plain("crossbar:3")), ErrorCode::mismatch, {});
  EXPECT_ERROR(simulate(matrix, Schedule(5), plain("crossbar:8")), ErrorCode::mismatch, {});
  EXPECT_ERROR(simulate_drs_n(matrix, plain("crossbar:4")), ErrorCode::not_applicable, {});
  Machine senseless = plain("crossbar:4");
  senseless.byte_s = 0;
  EXPECT_ERROR(simulate(matrix, schedule, senseless), ErrorCode::invalid_argument, {});
}

TEST(Simulate, NothingTakesNoTime) {
  const CommMatrix matrix = messages(4, {});
  EXPECT_EQ(simulate(matrix, make_schedule(matrix, "ac"), plain("crossbar:4")).seconds, 0);
  EXPECT_EQ(port_bound_s(matrix, plain("crossbar:4")), 0);
}

}  // namespace
}  // namespace nuice
