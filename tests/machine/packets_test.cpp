// SPDX-License-Identifier: BSD-3-Clause
// The packet simulator against published figures, closed forms, and laws.
#include "nuice/plan/packets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "machine/simulated.hpp"
#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using namespace test;

constexpr Queueing both_queueings[] = {Queueing::fifo, Queueing::voq};
constexpr Bytes packet = 4096;

/// A packet a microsecond; everything else costs nothing.
Machine slotted(std::string_view topology) {
  Machine machine;
  machine.name = "slotted";
  machine.topology = make_topology(topology);
  machine.byte_s = 1e-6 / packet;
  return machine;
}

/// Sizes of 1 to `most` times a number of packets.
CommMatrix random_matrix(Rank num_ranks, Rank degree, Bytes most, std::uint64_t seed, Bytes packets = 1) {
  return random_regular(num_ranks, degree, {packets * packet, most}, seed);
}

std::uint64_t hops_of(const CommMatrix& matrix, const Topology& topology) {
  std::uint64_t hops = 0;
  std::vector<LinkId> route;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    route.clear();
    topology.append_route(matrix.src(id), matrix.dst(id), route);
    hops += (route.size() + 2) * static_cast<std::uint64_t>((matrix.bytes(id) - 1) / packet + 1);
  }
  return hops;
}

TEST(Packets, FirstInFirstOutSaturatesAsKarolSays) {
  EXPECT_NEAR(switch_throughput(2, Queueing::fifo, 100000), 0.75, 0.0075);
  EXPECT_NEAR(switch_throughput(4, Queueing::fifo, 100000), 0.6553, 0.0065);
  EXPECT_NEAR(switch_throughput(8, Queueing::fifo, 100000), 0.6184, 0.0062);
  EXPECT_GT(switch_throughput(16, Queueing::voq), 0.95);
}

TEST(Packets, OneMessageTakesItsPacketsAndItsHops) {
  const CommMatrix matrix = messages(16, {{0, 15, 10 * packet}});
  for (const Queueing queueing : both_queueings) {
    const PacketRun run = simulate_packets(matrix, make_schedule(matrix, "ac"), slotted("fattree:4x4"),
                                           {.executor = "async", .queueing = queueing});
    EXPECT_EQ(run.slots, 10 + 3);  // in, up, down, out; the last packet leaves in slot 10
    EXPECT_EQ(run.packet_hops, 40U);
  }
}

TEST(Packets, TimesOfTheMachineAreAdded) {
  Machine machine = slotted("fattree:4x4");
  machine.send_overhead_s = 2e-6;
  machine.start_up_s = 1e-6;
  machine.latency_s = 5e-6;
  machine.receive_overhead_s = 4e-6;
  machine.handshake_s = 6e-6;
  const CommMatrix matrix = messages(16, {{0, 15, 10 * packet}});
  const auto seconds = [&] {
    return simulate_packets(matrix, make_schedule(matrix, "ac"), machine, {.executor = "async"}).seconds;
  };
  EXPECT_NEAR(seconds(), (3 + 13 + 9) * 1e-6, 1e-12);
  machine.eager_limit = packet;
  EXPECT_NEAR(seconds(), (3 + 13 + 9 + 6) * 1e-6, 1e-12);
}

TEST(Packets, AShiftOfAFullTreeIsFreeOfContention) {
  for (const Queueing queueing : both_queueings) {
    for (const char* const spec : {"fattree:18x18", "fattree:8x8x8"}) {
      const Machine machine = slotted(spec);
      const Rank n = machine.topology->num_ranks();
      const CommMatrix matrix = shift(n, 37, 800 * packet);
      const PacketRun run = simulate_packets(matrix, make_schedule(matrix, "ac"), machine,
                                             {.executor = "async", .queueing = queueing});
      EXPECT_EQ(run.link_bound_slots, 800);
      EXPECT_LE(run.slots, 1.01 * 800) << spec;
    }
  }
}

TEST(Packets, AnIncastTakesAllItsPacketsThroughOnePort) {
  std::vector<Message> entries;
  for (Rank rank = 1; rank < 64; ++rank) entries.push_back({rank, 0, 20 * packet});
  const CommMatrix matrix = messages(64, entries);
  for (const Queueing queueing : both_queueings) {
    for (const char* const executor : {"async", "depend"}) {
      const PacketRun run =
          simulate_packets(matrix, make_schedule(matrix, "coloring"), slotted("fattree:8x8"),
                           {.executor = executor, .queueing = queueing});
      EXPECT_EQ(run.port_bound_slots, 63 * 20);
      EXPECT_GE(run.slots, 63 * 20 + 1) << executor;
      EXPECT_LE(run.slots, 63 * 20 + 4) << executor;
    }
  }
}

TEST(Packets, EveryPacketCrossesItsRouteOnce) {
  for (const char* const spec : {"crossbar:24", "fattree:4x6/2", "torus:5x5", "dragonfly:a=4,h=2,p=2",
                                 "hypercube:5", "tree:4x4x2/2", "cm5:32"}) {
    const Machine machine = slotted(spec);
    const CommMatrix matrix = random_matrix(std::min(machine.topology->num_ranks(), 24), 5, 40, 3);
    for (const Queueing queueing : both_queueings) {
      for (const Executor& executor : executors()) {
        if (!executor.needs_schedule()) continue;
        const Schedule schedule = make_schedule(matrix, "coloring");
        const PacketRun run = simulate_packets(
            matrix, schedule, machine,
            {.executor = std::string(executor.name), .queueing = queueing, .buffer_packets = 4});
        EXPECT_EQ(run.packet_hops, hops_of(matrix, *machine.topology)) << spec << " " << executor.name;
        EXPECT_GE(run.slots, run.bound_slots());
      }
    }
  }
}

TEST(Packets, RingsDoNotDeadlock) {
  for (const char* const spec : {"torus:12", "torus:6x6", "dragonfly:a=4,h=2,p=2"}) {
    const Machine machine = slotted(spec);
    const Rank n = machine.topology->num_ranks();
    std::vector<Message> entries;
    for (Rank src = 0; src < n; ++src)
      for (Rank dst = 0; dst < n; ++dst)
        if (src != dst) entries.push_back({src, dst, 8 * packet});
    const CommMatrix matrix = messages(n, entries);
    const PacketRun run = simulate_packets(matrix, make_schedule(matrix, "ac"), machine,
                                           {.executor = "async", .buffer_packets = 1});
    EXPECT_EQ(run.packet_hops, hops_of(matrix, *machine.topology));
    EXPECT_GT(run.virtual_lanes, 1);
  }
  const CommMatrix matrix = shift(64, 9, packet);
  EXPECT_EQ(simulate_packets(matrix, make_schedule(matrix, "ac"), slotted("fattree:4x4x4")).virtual_lanes, 1);
}

/// Hoefler, Schneider and Lumsdaine (CLUSTER 2008): 55 to 60 % of the nominal bisection under
/// static routing. Their measure: the hosts in random halves, each of one exchanges with one of
/// the other, the mean rate of all pairs.
TEST(Packets, StaticRoutesGiveAboutHalfOfAThreeLevelTreesBisection) {
  const Machine machine = slotted("fattree:8x8x8");
  const Rank n = machine.topology->num_ranks();
  double sum = 0;
  constexpr std::uint64_t seeds = 5;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    std::vector<Rank> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(std::span(order));
    std::vector<Message> entries;
    for (std::size_t i = 0; i < order.size(); ++i)
      entries.push_back({order[i], order[(i + order.size() / 2) % order.size()], 500 * packet});
    const CommMatrix matrix = messages(n, entries);
    const PacketRun run = simulate_packets(matrix, make_schedule(matrix, "ac"), machine,
                                           {.executor = "async", .queueing = Queueing::voq});
    for (const double slots : run.arrived_slots) sum += 500 / slots;
  }
  EXPECT_GE(sum / (static_cast<double>(seeds) * n), 0.55);
  EXPECT_LE(sum / (static_cast<double>(seeds) * n), 0.60);
}

TEST(Packets, AllExecutorsReachTheBoundWhereNothingIsShared) {
  const CommMatrix matrix = shift(24, 5, 100 * packet);
  for (const Executor& executor : executors()) {
    if (!executor.needs_schedule()) continue;
    const PacketRun run = simulate_packets(matrix, make_schedule(matrix, "coloring"), slotted("crossbar:24"),
                                           {.executor = std::string(executor.name)});
    EXPECT_EQ(run.slots, 101) << executor.name;
  }
}

TEST(Packets, WaitingForLinksBeatsAllAtOnceAndPhases) {
  Machine machine = slotted("fattree:8x8x8");
  machine.latency_s = 4e-6;
  const CommMatrix matrix = random_matrix(512, 8, 1, 1, 64);
  const Schedule schedule =
      make_schedule({.matrix = matrix, .topology = machine.topology.get()}, "link_coloring");
  for (const Queueing queueing : both_queueings) {
    const auto ratio = [&](const char* executor) {
      const PacketRun run =
          simulate_packets(matrix, schedule, machine, {.executor = executor, .queueing = queueing});
      return run.slots / run.bound_slots();
    };
    EXPECT_LE(ratio("depend"), 1.08);  // its notices stand behind packets
    EXPECT_GT(ratio("async"), 1.05);
    EXPECT_GT(ratio("phased"), 1.3);
  }
}

/// Slots until rank 0 has what two ranks send it one after the other: it gives notice to the second one,
/// behind 7 packets of its own for a hot port if it sends any.
double slots_of_two(Queueing queueing, bool sends_to_the_hot_port) {
  std::vector<Message> all{{1, 0, 12 * packet}, {3, 0, 12 * packet}};
  for (const Rank src : {0, 4, 5, 6, 7, 8})
    if (src != 0 || sends_to_the_hot_port) all.push_back({src, 2, 7 * packet});
  const CommMatrix matrix = messages(9, all);
  const Schedule schedule = make_schedule(matrix, "coloring");
  const PacketRun run =
      simulate_packets(matrix, schedule, slotted("crossbar:9"),
                       {.executor = "depend", .queueing = queueing, .early_bytes = 4 * packet});
  double last = 0;
  for (std::size_t id = 0; id < schedule.num_transfers(); ++id)
    if (schedule.transfer(id).dst == 0) last = std::max(last, run.arrived_slots[id]);
  return last;
}

TEST(Packets, NoticesWaitBehindThePacketsOfTheirSender) {
  EXPECT_LT(slots_of_two(Queueing::fifo, false), 28);
  EXPECT_GT(slots_of_two(Queueing::fifo, true), 40);
  EXPECT_LT(slots_of_two(Queueing::voq, true), 28);
}

TEST(Packets, ForwardedMessagesWaitForTheirParts) {
  const CommMatrix matrix = random_matrix(16, 4, 6, 7);
  const PacketRun run =
      simulate_packets(matrix, make_schedule(matrix, "rex"), slotted("hypercube:4"), {.executor = "phased"});
  for (MessageId id = 0; id < matrix.num_messages(); ++id) EXPECT_EQ(run.delivered[id], matrix.bytes(id));
}

TEST(Packets, RandomPathsAreDrawnFromThoseOfTheTopology) {
  const Machine machine = slotted("fattree:6x6");
  const CommMatrix matrix = random_matrix(36, 6, 50, 5);
  const Schedule schedule = make_schedule(matrix, "ac");
  const auto run = [&](Routing routing, std::uint64_t seed) {
    return simulate_packets(
        matrix, schedule, machine,
        {.executor = "async", .queueing = Queueing::voq, .routing = routing, .seed = seed});
  };
  EXPECT_NE(run(Routing::random, 1).link_bound_slots, run(Routing::random, 2).link_bound_slots);
  EXPECT_EQ(run(Routing::random, 1).slots, run(Routing::random, 1).slots);
  EXPECT_LT(run(Routing::spray, 1).link_bound_slots, run(Routing::table, 1).link_bound_slots);
  EXPECT_EQ(run(Routing::spray, 1).packet_hops, run(Routing::table, 1).packet_hops);
}

Schedule without_paths(const Schedule& schedule) {
  Schedule result(schedule.num_ranks());
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    result.begin_phase();
    for (const Transfer transfer : schedule.transfers(phase)) {
      const Piece piece = transfer.pieces[0];
      result.add(transfer.src, transfer.dst, {&piece, 1});
    }
  }
  return result;
}

TEST(Packets, BothSimulatorsFollowThePathsOfASchedule) {
  const Machine machine = parse_machine(
      "topology = \"fattree:8x8\"\n[message]\nstart_up = \"1 us\"\n[port]\nbandwidth = \"1 GB/s\"\n", "test");
  const CommMatrix matrix = random_regular(64, 6, {262144, 1}, 3);
  const Schedule plan =
      make_schedule(Problem{.matrix = matrix, .topology = machine.topology.get()}, "path_coloring");
  const Schedule routed = without_paths(plan);
  const SimulationOptions phased{.executor = "phased"};
  EXPECT_EQ(simulate(matrix, plan, machine, phased).link_contention, 0U);
  EXPECT_GT(simulate(matrix, routed, machine, phased).link_contention, 0U);
  for (const Routing routing : {Routing::table, Routing::random}) {
    const PacketRun chosen =
        simulate_packets(matrix, plan, machine, {.executor = "depend", .routing = routing});
    EXPECT_LT(chosen.slots, 1.2 * chosen.port_bound_slots);
    const PacketRun other =
        simulate_packets(matrix, routed, machine, {.executor = "depend", .routing = routing});
    EXPECT_GT(other.link_bound_slots, chosen.link_bound_slots);
  }
}

TEST(Packets, WhatCannotBeIsRefused) {
  const CommMatrix matrix = shift(8, 1, packet);
  const Schedule schedule = make_schedule(matrix, "ac");
  const auto run = [&](const Machine& machine, const PacketOptions& options) {
    simulate_packets(matrix, schedule, machine, options);
  };
  const Machine machine = slotted("crossbar:8");
  EXPECT_ERROR(run(slotted("crossbar:4"), {}), ErrorCode::mismatch, {});
  EXPECT_ERROR(run(machine, {.executor = "handshake"}), ErrorCode::invalid_argument, {});
  EXPECT_ERROR(run(machine, {.executor = "none"}), ErrorCode::invalid_argument, {});
  EXPECT_ERROR(run(machine, {.buffer_packets = 0}), ErrorCode::invalid_argument, {});
  EXPECT_ERROR(find_queueing("drop"), ErrorCode::invalid_argument, {"known: fifo, voq"});
  EXPECT_ERROR(run(find_machine("ipsc860-64"), {}), ErrorCode::not_applicable, {});
}

}  // namespace
}  // namespace nuice
