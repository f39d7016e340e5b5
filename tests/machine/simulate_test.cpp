// SPDX-License-Identifier: BSD-3-Clause
// The simulator against closed forms, and laws that hold on every machine.
#include "nuice/plan/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>

#include "nuice/core/interrupt.hpp"
#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

constexpr const char* executor_names[] = {"async", "phased", "barrier", "pairwise"};

/// 1 MB/s, 10 us to start; everything else costs nothing.
Machine plain(std::string_view topology) {
  Machine machine;
  machine.name = "plain";
  machine.topology = make_topology(topology);
  machine.byte_s = 1e-6;
  machine.start_up_s = 10e-6;
  return machine;
}

CommMatrix messages(Rank num_ranks, const std::vector<Message>& entries) {
  return CommMatrix::from_messages(num_ranks, entries);
}

/// Every rank sends `bytes` to the rank `shift` further.
CommMatrix shift(Rank num_ranks, Rank by, Bytes bytes) {
  std::vector<Message> entries;
  for (Rank rank = 0; rank < num_ranks; ++rank) entries.push_back({rank, (rank + by) % num_ranks, bytes});
  return messages(num_ranks, entries);
}

Simulation run(const CommMatrix& matrix, const Machine& machine, std::string_view scheduler = "ac",
               const char* executor = "async", bool blocking = true) {
  return simulate(matrix, make_schedule(matrix, scheduler), machine,
                  {.executor = executor, .blocking_sends = blocking});
}

void expect_close(double seconds, double expected) { EXPECT_NEAR(seconds, expected, 1e-10 * expected); }

// ---- closed forms

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

TEST(Simulate, PhasesAndBarriersCostWhatTheySay) {
  Machine machine = plain("crossbar:4");
  machine.phase_s = 5e-6;
  machine.barrier_s = 7e-6;
  machine.barrier_level_s = 1e-6;
  std::vector<Message> entries;
  for (Rank rank = 0; rank < 4; ++rank) {
    for (Rank by = 1; by < 4; ++by) entries.push_back({rank, (rank + by) % 4, 1000});
  }
  const CommMatrix matrix = messages(4, entries);
  expect_close(run(matrix, machine, "lp", "phased").seconds, 3 * (5e-6 + 10e-6 + 1000e-6));
  expect_close(run(matrix, machine, "lp", "barrier").seconds, 3 * (5e-6 + 10e-6 + 1000e-6 + 9e-6));
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

// ---- laws

struct Case {
  std::string name;
  Machine machine;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const ShippedMachine& shipped : shipped_machines()) {
    Machine machine = find_machine(shipped.name);
    machine.topology = make_topology("hypercube:4");
    cases.push_back({std::string(shipped.name), machine});
  }
  for (const char* topology : {"crossbar:16", "torus:4x4", "cm5:16"}) {
    for (const Duplex duplex : {Duplex::full, Duplex::paired, Duplex::half}) {
      for (const Switching switching : {Switching::packet, Switching::circuit}) {
        Machine machine = plain(topology);
        machine.duplex = duplex;
        machine.switching = switching;
        machine.eager_limit = 3000;
        machine.sends_at_once = duplex == Duplex::paired ? 0 : 1;
        machine.receives_at_once = switching == Switching::circuit ? 1 : 0;
        cases.push_back({topology, machine});
      }
    }
  }
  return cases;
}

const CommMatrix& law_matrix() {
  static const CommMatrix matrix = random_density(16, 0.4, {.unit_bytes = 500, .max_units = 12}, 7);
  return matrix;
}

template <typename Body>
void for_all(Body body) {
  for (const auto& [name, machine] : all_cases()) {
    for (const char* scheduler : {"ac", "coloring", "rex", "rs_nh"}) {
      const Schedule schedule = make_schedule(law_matrix(), scheduler);
      for (const char* const executor : executor_names) {
        SCOPED_TRACE(name + " " + scheduler + " " + executor);
        body(machine, schedule, SimulationOptions{.executor = executor, .record_timeline = true});
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(SimulateLaw, EveryByteArrivesOnce) {
  for_all([](const Machine& machine, const Schedule& schedule, const SimulationOptions& options) {
    const Simulation result = simulate(law_matrix(), schedule, machine, options);
    for (MessageId id = 0; id < law_matrix().num_messages(); ++id) {
      ASSERT_EQ(result.delivered[id], law_matrix().bytes(id)) << "message " << id;
    }
    Bytes moved = 0;
    for (std::size_t i = 0; i < schedule.num_transfers(); ++i) moved += schedule.transfer(i).bytes();
    Bytes sent = 0;
    Bytes received = 0;
    for (const RankTimes& times : result.ranks) {
      sent += times.sent_bytes;
      received += times.received_bytes;
    }
    ASSERT_EQ(sent, moved);
    ASSERT_EQ(received, moved);
  });
}

TEST(SimulateLaw, NothingIsFasterThanTheBounds) {
  for_all([](const Machine& machine, const Schedule& schedule, const SimulationOptions& options) {
    const double seconds = simulate(law_matrix(), schedule, machine, options).seconds;
    ASSERT_GE(seconds, port_bound_s(law_matrix(), machine) * (1 - 1e-9));
    const bool direct = schedule != make_schedule(law_matrix(), "rex");
    if (direct) {
      ASSERT_GE(seconds, link_bound_s(law_matrix(), machine) * (1 - 1e-9));
    }
  });
}

TEST(SimulateLaw, ARankDoesOneThingAtATime) {
  for_all([](const Machine& machine, const Schedule& schedule, const SimulationOptions& options) {
    const Simulation result = simulate(law_matrix(), schedule, machine, options);
    std::vector<double> processor_until(16, 0);
    for (const Interval& interval : result.timeline) {
      ASSERT_LT(interval.begin_s, interval.end_s);
      ASSERT_LE(interval.end_s, result.seconds * (1 + 1e-9));
      if (interval.activity != Activity::software && interval.activity != Activity::waiting) continue;
      double& until = processor_until[static_cast<std::size_t>(interval.rank)];
      ASSERT_GE(interval.begin_s, until * (1 - 1e-9)) << "rank " << interval.rank;
      until = interval.end_s;
    }
    for (const RankTimes& times : result.ranks) {
      ASSERT_GE(times.idle_s, -1e-12);
      ASSERT_LE(times.software_s + times.waiting_s, result.seconds * (1 + 1e-9));
    }
  });
}

TEST(SimulateLaw, RunsRepeatExactly) {
  for_all([](const Machine& machine, const Schedule& schedule, const SimulationOptions& options) {
    const Simulation first = simulate(law_matrix(), schedule, machine, options);
    const Simulation second = simulate(law_matrix(), schedule, machine, options);
    ASSERT_EQ(first.seconds, second.seconds);
    ASSERT_EQ(first.timeline.size(), second.timeline.size());
    ASSERT_EQ(first.link_contention, second.link_contention);
  });
}

CommMatrix scaled(const CommMatrix& matrix, Bytes factor) {
  std::vector<Message> entries = matrix.entries();
  for (Message& entry : entries) entry.bytes *= factor;
  return CommMatrix::from_messages(matrix.num_ranks(), entries);
}

TEST(SimulateLaw, LargerMessagesTakeLonger) {
  for (const auto& [name, machine] : all_cases()) {
    if (machine.queue_senders > 0) continue;  // whom a full queue hits is a matter of luck
    SCOPED_TRACE(name);
    double before = 0;
    for (const Bytes factor : {1, 2, 4, 8, 16}) {
      const CommMatrix matrix = scaled(law_matrix(), factor);
      const double seconds = run(matrix, machine, "coloring", "barrier").seconds;
      EXPECT_GT(seconds, before);
      before = seconds;
    }
  }
}

TEST(SimulateLaw, NamesOfRanksDoNotMatterOnACrossbar) {
  std::vector<Rank> names(16);
  std::iota(names.begin(), names.end(), 0);
  Random(5).shuffle(std::span(names));
  std::vector<Message> entries = law_matrix().entries();
  for (Message& entry : entries) {
    entry.src = names[static_cast<std::size_t>(entry.src)];
    entry.dst = names[static_cast<std::size_t>(entry.dst)];
  }
  const CommMatrix renamed = CommMatrix::from_messages(16, entries);
  const Schedule schedule = make_schedule(law_matrix(), "coloring");
  Schedule other(16);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    other.begin_phase();
    for (const Transfer transfer : schedule.transfers(phase)) {
      other.add_whole(renamed, *renamed.find(names[static_cast<std::size_t>(transfer.src)],
                                             names[static_cast<std::size_t>(transfer.dst)]));
    }
  }
  for (const char* const executor : {"async", "phased", "barrier"}) {
    for (const Duplex duplex : {Duplex::full, Duplex::half}) {
      Machine machine = plain("crossbar:16");
      machine.duplex = duplex;
      machine.loss_per_sender = 0.2;
      machine.loss_most = 1;
      const double seconds = simulate(law_matrix(), schedule, machine, {.executor = executor}).seconds;
      expect_close(simulate(renamed, other, machine, {.executor = executor}).seconds, seconds);
    }
  }
}

// ---- DRS_N

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

// ---- refusals

ErrorCode code_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode{};
}

TEST(Simulate, BadInputIsRefused) {
  const CommMatrix matrix = shift(4, 1, 10);
  const Schedule schedule = make_schedule(matrix, "ac");
  EXPECT_EQ(code_of([&] { simulate(matrix, schedule, plain("crossbar:3")); }), ErrorCode::mismatch);
  EXPECT_EQ(code_of([&] { simulate(matrix, Schedule(5), plain("crossbar:8")); }), ErrorCode::mismatch);
  EXPECT_EQ(code_of([&] { simulate_drs_n(matrix, plain("crossbar:4")); }), ErrorCode::not_applicable);
  EXPECT_EQ(code_of([&] { simulate_drs_n(matrix, plain("crossbar:4"), {.early_bytes = -1}); }),
            ErrorCode::invalid_argument);
  Machine senseless = plain("crossbar:4");
  senseless.byte_s = 0;
  EXPECT_EQ(code_of([&] { simulate(matrix, schedule, senseless); }), ErrorCode::invalid_argument);
}

TEST(Simulate, NothingTakesNoTime) {
  const CommMatrix matrix = messages(4, {});
  EXPECT_EQ(simulate(matrix, make_schedule(matrix, "ac"), plain("crossbar:4")).seconds, 0);
  EXPECT_EQ(port_bound_s(matrix, plain("crossbar:4")), 0);
}

/// Ranks 1 to 3 send rank 0 so many bytes each, on a CM-5 whose ranks ask again and again.
CommMatrix three_to_one(Bytes bytes) { return messages(4, {{1, 0, bytes}, {2, 0, bytes}, {3, 0, bytes}}); }

TEST(Repeats, AreCountedAsTheyWouldHaveCome) {
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
  const auto begin = std::chrono::steady_clock::now();
  const Machine cm5 = find_machine("cm5-32");
  const Simulation run = simulate_drs_n(three_to_one(Bytes{1} << 40), cm5);
  EXPECT_GE(run.seconds, port_bound_s(three_to_one(Bytes{1} << 40), cm5));
  EXPECT_GT(run.refusals, 1'000'000'000U);
  Machine slow = cm5;
  slow.start_up_s = 1e6;
  EXPECT_GT(simulate_drs_n(three_to_one(1000), slow).seconds, 3e6);
  slow.start_up_s = 1e12;  // an inquiry no longer takes time beside it
  EXPECT_EQ(code_of([&] { simulate_drs_n(three_to_one(1000), slow); }), ErrorCode::limit);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 60);
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
