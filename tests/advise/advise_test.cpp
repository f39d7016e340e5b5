// SPDX-License-Identifier: BSD-3-Clause
// The adviser: what it says is what the simulator says, it is the same
// every time, and it keeps to its budget.
#include "nuice/plan/advise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "advise/costs.hpp"
#include "advise/predict/shifts.hpp"
#include "advise/predict/used_links.hpp"
#include "advise/predict/walk.hpp"
#include "advise/search.hpp"
#include "nuice/core/check.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/core/patterns.hpp"
#include "nuice/plan/simulate.hpp"
#include "support/sanitized.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

const Candidate& find(const Advice& advice, std::string_view name) {
  const auto found = std::ranges::find(advice.candidates, name, &Candidate::name);
  if (found == advice.candidates.end()) throw std::runtime_error("no candidate " + std::string(name));
  return *found;
}

/// All ranks send to rank 0, long messages, and to their neighbour, short ones.
CommMatrix hot_receiver(Rank num_ranks, Bytes bytes) {
  std::vector<Message> messages;
  for (Rank rank = 1; rank < num_ranks; ++rank) messages.push_back({rank, 0, bytes});
  for (Rank rank = 1; rank + 1 < num_ranks; ++rank) messages.push_back({rank, rank + 1, bytes / 16 + 1});
  return CommMatrix::from_messages(num_ranks, messages);
}

TEST(Advise, SimulatedTimesAreTheSimulatorsOwn) {
  const CommMatrix matrix = random_regular(16, 5, {2048, 8}, 3);
  for (const std::string_view name : {"cm5-32", "ipsc860-64", "ethernet-10g"}) {
    const Machine machine = find_machine(name);
    const Advice advice = advise(matrix, machine, {.predict_by = Prediction::simulation});
    for (const Candidate& candidate : advice.candidates) {
      if (candidate.predicted_by != Prediction::simulation || candidate.scheduler == "drs_n") continue;
      const Problem problem{matrix, advice.seed, advice.phase_cost_bytes, machine.topology.get(),
                            advice.prefer_pairs};
      const Schedule schedule = make_schedule(problem, candidate.scheduler);
      const SimulationOptions how{.executor = candidate.executor, .blocking_sends = false};
      EXPECT_EQ(candidate.exchange_s, simulate(matrix, schedule, machine, how).seconds) << candidate.name();
      EXPECT_EQ(candidate.phases, schedule.num_phases());
      EXPECT_EQ(candidate.phase_bytes, phase_bytes(schedule));
      EXPECT_GE(candidate.to_bound, 1 - 1e-9) << candidate.name() << " on " << name;
    }
  }
}

TEST(Advise, TheLeastTotalIsChosenAndEveryOtherHasAReason) {
  const CommMatrix matrix = random_density(12, 0.4, {512, 32}, 7);
  for (const std::uint64_t reuse : {1, 100, 1'000'000}) {
    const Advice advice =
        advise(matrix, find_machine("cm5-32"), {.reuse = reuse, .predict_by = Prediction::simulation});
    for (const Candidate& candidate : advice.candidates) {
      EXPECT_NEAR(candidate.total_s, candidate.planning_s / static_cast<double>(reuse) + candidate.exchange_s,
                  1e-12);
      EXPECT_GE(candidate.total_s, advice.choice().total_s);
      EXPECT_EQ(candidate.why_not.empty(), &candidate == &advice.choice()) << candidate.name();
    }
    EXPECT_NE(advice.sentence.find(advice.choice().name()), std::string::npos);
  }
}

TEST(Advise, SameArgumentsSameAdvice) {
  for (const ShippedMachine& shipped : shipped_machines()) {
    const Machine machine = find_machine(shipped.name);
    const CommMatrix matrix = random_regular(12, 4, {300, 32}, 11);
    EXPECT_EQ(to_json(advise(matrix, machine)), to_json(advise(matrix, machine))) << shipped.name;
  }
}

/// bench/run.py advise in small: on every shipped machine, 9 matrices of three kinds.
TEST(Advise, TheChoiceIsNearlyTheSimulatedBest) {
  if (test::is_sanitized) GTEST_SKIP() << "about figures";
  for (const ShippedMachine& shipped : shipped_machines()) {
    const Machine machine = find_machine(shipped.name);
    const std::vector<std::string> names = all_candidates(machine);
    double sum = 0;
    double worst = 0;
    for (std::uint64_t seed = 0; seed < 9; ++seed) {
      const Bytes unit = Bytes{16} << (2 * seed % 14);
      const Rank ranks = seed % 2 == 0 ? 8 : 14;
      const CommMatrix matrix = seed % 3 == 0   ? random_regular(ranks, 3, {unit, 1}, seed)
                                : seed % 3 == 1 ? random_density(ranks, 0.7, {unit, 32}, seed)
                                                : hot_receiver(ranks, unit * 16);
      const Advice truth =
          advise(matrix, machine, {.candidates = names, .predict_by = Prediction::simulation});
      const Advice advice = advise(matrix, machine, {.candidates = names});
      const double ratio = find(truth, advice.choice().name()).total_s / truth.choice().total_s;
      sum += ratio;
      worst = std::max(worst, ratio);
    }
    EXPECT_LE(sum / 9, 1.05) << shipped.name;
    EXPECT_LE(worst, 1.3) << shipped.name;
  }
}

TEST(Advise, BudgetsAreKept) {
  const CommMatrix matrix = random_regular(24, 8, {4096, 32}, 5);
  const Machine machine = find_machine("ethernet-1g");
  const Advice none = advise(matrix, machine, {.budget_s = 0.0});
  EXPECT_EQ(none.decided_by, Prediction::rule);
  EXPECT_NE(none.sentence.find("by the rule"), std::string::npos);
  for (const Candidate& candidate : none.candidates) EXPECT_EQ(candidate.predicted_by, Prediction::rule);
  for (const double budget : {1e-3, 1e-2, 1.0}) {
    const Advice advice = advise(matrix, machine, {.budget_s = budget});
    EXPECT_LE(advice.deciding_s, budget);
    EXPECT_EQ(advice.budget_s, budget);
  }
  EXPECT_EQ(advise(matrix, machine, {.budget_s = 1.0}).decided_by, Prediction::simulation);
  const Advice usual = advise(matrix, machine, {.reuse = 1000});
  EXPECT_LE(usual.deciding_s, 500 * usual.choice().exchange_s);
}

/// The gain E[max(z - X, 0)] is a sum over costs here: 0.9 of them in the range, 0.05 below it.
TEST(Advise, AtTheReservationValueALookGainsTheTimeThatItTakes) {
  for (const double chance : {1.0, 0.5, 0.01}) {
    for (const double width : {0.0, 2.0}) {
      for (const double tail : {0.0, 1.0}) {
        for (const double look : {1e-4, 1e-3, 0.02, 0.5, 4.0}) {
          const double z = advice::reservation_value(
              {.least = 3 - tail, .low = 3, .width = width, .chance = chance}, look);
          constexpr int samples = 100000;
          double gain = 0;
          for (int i = 0; i < samples; ++i) {
            const double part = (i + 0.5) / samples;
            gain += 0.9 * std::max(0.0, z - (3 + width * part)) + 0.05 * std::max(0.0, z - (3 - tail * part));
          }
          EXPECT_NEAR(chance * gain / samples, look, 1e-4 * look)
              << chance << " " << width << " " << tail << " " << look;
        }
      }
    }
  }
}

/// A walk is not exact: it may miss a timeout where a queue is nearly full.
TEST(Advise, TimeoutsThatAWalkMayHaveMissedCost) {
  const Machine machine = find_machine("ethernet-10g");
  const auto risk_s = [&](const char* scheduler, const char* executor, const advice::Estimate& walked) {
    advice::Entry entry(&find_scheduler(scheduler), find_executor(executor));
    advice::note_timeouts(entry, walked, machine);
    EXPECT_EQ(advice::Costs::at_worst_s(entry), entry.risk_s);
    return entry.risk_s;
  };
  EXPECT_EQ(risk_s("lpt", "phased", {.fullness = 0.5}), 0);
  EXPECT_GT(risk_s("lpt", "phased", {.fullness = 0.9}), 0);
  EXPECT_GT(risk_s("bruck", "phased", {.fullness = 0.9}), risk_s("lpt", "phased", {.fullness = 0.9}));
  EXPECT_EQ(risk_s("coloring", "async", {.fullness = 0.9}), 0);
  EXPECT_EQ(risk_s("lpt", "phased", {.possible_s = 0.2, .fullness = 1.1}), 0);
  EXPECT_GT(risk_s("lpt", "phased", {.walks = 2}), risk_s("lpt", "phased", {.fullness = 0.9, .walks = 1}));
}

/// All ranks send to the same few distances, so the schedule's phases are known from a sample.
TEST(Advise, TheRuleKnowsTheShiftsOfAStencil) {
  constexpr Rank ranks = 100;
  std::vector<Message> messages;
  for (Rank src = 0; src < ranks; ++src)
    for (const Rank distance : {1, 10, 90, 99})
      messages.push_back(
          {src, static_cast<Rank>((src + distance) % ranks), distance % 9 == 0 ? 50000 : 3000});
  const CommMatrix matrix = CommMatrix::from_messages(ranks, messages);
  const Machine machine = find_machine("ethernet-10g", ranks);
  const advice::Traits traits = advice::traits_of(matrix, nullptr, machine);
  const advice::Shifts direct = advice::shifts_of(traits, ranks);
  EXPECT_EQ(direct.phases, 4);
  EXPECT_EQ(direct.transfers, 4);
  EXPECT_EQ(direct.hops, 1);
  EXPECT_EQ(direct.bytes, 2 * 50000 + 2 * 3000);
  const advice::Shifts two_digits = advice::shifts_of(traits, 10);
  EXPECT_EQ(two_digits.phases, 4);  // 1, 10, 90; 99 is 9 and 90
  EXPECT_NEAR(two_digits.hops, 1.25, 0.03);
  const Schedule schedule = make_schedule(matrix, "bruck");
  EXPECT_EQ(schedule.num_phases(), 4);
  const Advice told = advise(matrix, machine, {.predict_by = Prediction::rule});
  const double simulated_s =
      simulate(matrix, schedule, machine, {.executor = "phased", .blocking_sends = false}).seconds;
  EXPECT_NEAR(find(told, "bruck:phased").exchange_s / simulated_s, 1, 0.3);
}

/// A look takes about as long as 30 exchanges here, and candidates differ by less than that.
TEST(Advise, NothingIsSimulatedForAFewShortExchanges) {
  const CommMatrix matrix = random_regular(64, 8, {65536, 32}, 1);
  const Machine machine = find_machine("ib-hdr-fattree");
  const Advice few = advise(matrix, machine, {.reuse = 10});
  EXPECT_EQ(few.decided_by, Prediction::rule);
  EXPECT_NE(few.sentence.find("longer than it is likely to save"), std::string::npos) << few.sentence;
  EXPECT_EQ(advise(matrix, machine, {.reuse = 100'000}).decided_by, Prediction::simulation);
}

/// Sending everything at once is expensive to simulate where messages share links and ports are half-duplex.
TEST(Advise, ADearCandidateKeepsNoOtherFromBeingSimulated) {
  const Advice advice = advise(random_regular(64, 8, {16, 32}, 1), find_machine("cm5-256"), {.reuse = 10});
  EXPECT_EQ(advice.decided_by, Prediction::simulation);
  EXPECT_EQ(find(advice, "ac:async").predicted_by, Prediction::rule);
  EXPECT_LE(advice.deciding_s, advice.budget_s);
}

/// All ranks send to rank 0. At first they seem to reach it at the same time, but they wait for its port.
TEST(Advise, RanksThatWaitForABusyReceiverFillNoQueue) {
  const Machine machine = find_machine("ethernet-10g");
  const CommMatrix others = random_regular(64, 6, {8000, 4}, 0);
  std::vector<Message> messages;
  for (Rank src = 1; src < 64; ++src) messages.push_back({src, 0, 8000});
  for (MessageId id = 0; id < others.num_messages(); ++id)
    if (others.dst(id) != 0) messages.push_back({others.src(id), others.dst(id), others.bytes(id)});
  const CommMatrix matrix = CommMatrix::from_messages(64, messages);
  const Schedule schedule = make_schedule(matrix, "lp");
  const advice::Estimate walked =
      advice::rule_of_phases(schedule, false, advice::traits_of(matrix, nullptr, machine), machine);
  EXPECT_EQ(walked.walks, 2);
  EXPECT_EQ(walked.possible_s, 0);
  const double simulated_s =
      simulate(matrix, schedule, machine, {.executor = "phased", .blocking_sends = false}).seconds;
  EXPECT_NEAR(walked.exchange_s / simulated_s, 1, 0.18);
}

TEST(Advise, PhasesWinWhereContentionCosts) {
  const CommMatrix matrix = random_regular(16, 8, {65536, 1}, 0);
  const Machine machine = find_machine("testbed-fast");
  const Advice advice = advise(matrix, machine, {.candidates = mpi_candidates(machine)});
  EXPECT_EQ(advice.choice().executor, "phased");
  EXPECT_GT(find(advice, "ac:async").total_s, 1.1 * advice.choice().total_s);
  const Machine host = find_machine("shared-memory");
  EXPECT_EQ(advise(matrix, host, {.candidates = mpi_candidates(host)}).choice().executor, "async");
}

/// Six long messages for each rank's neighbours, and short ones to and from rank 0.
CommMatrix grid_with_hub(Rank width, Bytes bytes) {
  const Rank num_ranks = width * width * width;
  std::map<std::pair<Rank, Rank>, Bytes> sizes;
  for (Rank rank = 1; rank < num_ranks; ++rank) sizes[{rank, 0}] = sizes[{0, rank}] = 8;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    for (const Rank step : {1, width, width * width}) {
      const Rank other = (rank + step) % num_ranks;
      sizes[{rank, other}] = sizes[{other, rank}] = bytes;
    }
  }
  std::vector<Message> messages;
  for (const auto& [ranks, size] : sizes) messages.push_back({ranks.first, ranks.second, size});
  return CommMatrix::from_messages(num_ranks, messages);
}

/// What ranks in between carry, and how many send to them at once, no degree of the matrix says.
TEST(Advise, ForwardingIsChosenWhereItPaysOnly) {
  const CommMatrix matrix = grid_with_hub(10, 174763);
  for (const auto& [name, reuse] : {std::pair("ethernet-10g", 1), std::pair("ib-hdr-fattree", 10000)}) {
    const Machine machine = find_machine(name, matrix.num_ranks());
    const Advice advice = advise(matrix, machine, {.reuse = static_cast<std::uint64_t>(reuse)});
    const Advice truth =
        advise(matrix, machine,
               {.reuse = static_cast<std::uint64_t>(reuse),
                .candidates = {"ac:async", "rex:phased", "bruck_kport:phased", advice.choice().name()},
                .predict_by = Prediction::simulation});
    EXPECT_LE(find(truth, advice.choice().name()).total_s, 1.15 * truth.choice().total_s) << name;
  }
}

double by_rule(const CommMatrix& matrix, const Machine& machine, const std::string& candidate) {
  return advise(matrix, machine, {.candidates = {candidate}, .predict_by = Prediction::rule})
      .choice()
      .exchange_s;
}

/// Rank 0 has many senders, rank 1 many bytes: no queue is full.
TEST(Advise, TheRuleTakesNoTwoRanksForOne) {
  std::vector<Message> messages{{2, 1, 1 << 20}};
  for (Rank src = 3; src < 43; ++src) messages.push_back({src, 0, 1});
  const CommMatrix matrix = CommMatrix::from_messages(43, messages);
  const Machine machine = find_machine("ethernet-10g");
  EXPECT_LT(by_rule(matrix, machine, "ac:async"), machine.timeout_s);
  messages.push_back({2, 0, 1 << 20});  // now one rank has both
  EXPECT_GT(by_rule(CommMatrix::from_messages(43, messages), machine, "ac:async"), machine.timeout_s);
}

/// Forwarded, a hub's short messages are few, and pass by its long ones. Sent straight they fill its queue.
TEST(Advise, TheRuleKnowsWhichMessagesMeet) {
  std::vector<Message> messages;
  for (Rank src = 1; src < 1000; ++src) messages.push_back({src, 0, src <= 3 ? 174763 : 8});
  const CommMatrix matrix = CommMatrix::from_messages(1000, messages);
  const Machine machine = find_machine("ethernet-10g", matrix.num_ranks());
  EXPECT_LT(by_rule(matrix, machine, "forward_small"), machine.timeout_s);
  EXPECT_GT(by_rule(matrix, machine, "ac:async"), machine.timeout_s);
}

/// The rule fears timeouts in forward_small, and the simulator has none. It was
/// looked at last, when the time was up.
TEST(Advise, WhatMayBeBestIsLookedAtFirst) {
  const CommMatrix matrix = grid_with_hub(10, 174763);
  const Machine machine = find_machine("ethernet-10g", matrix.num_ranks());
  EXPECT_GT(by_rule(matrix, machine, "forward_small"), machine.timeout_s);
  const Advice advice = advise(matrix, machine, {.reuse = 10});
  EXPECT_EQ(advice.choice().name(), "forward_small:phased") << to_text(advice);
}

/// A hub of short messages has a few long ones too. In phases they do not
/// meet, which only the schedule shows.
TEST(Advise, OnceUsedSchedulesAreWalkedThrough) {
  const CommMatrix grid = grid_with_hub(7, 150'000);
  const Rank num_ranks = grid.num_ranks();
  const auto place = [&](Rank rank) { return (rank * 101 + 57) % num_ranks; };
  std::vector<Message> messages;
  for (MessageId id = 0; id < grid.num_messages(); ++id)
    messages.push_back({place(grid.src(id)), place(grid.dst(id)), grid.bytes(id)});
  const CommMatrix matrix = CommMatrix::from_messages(num_ranks, messages);
  const Machine machine = find_machine("ethernet-10g", num_ranks);
  const Advice advice = advise(matrix, machine);
  const Advice truth = advise(
      matrix, machine,
      {.candidates = {"lp:phased", "rs_n:phased", "coloring:phased", "rex:phased", advice.choice().name()},
       .predict_by = Prediction::simulation});
  EXPECT_LE(find(truth, advice.choice().name()).total_s, 1.15 * truth.choice().total_s) << to_text(advice);
}

TEST(Advise, TheChoicesScheduleIsRight) {
  const CommMatrix matrix = random_density(16, 0.5, {1000, 32}, 2);
  for (const std::string_view name : {"cm5-32", "delta", "fattree-ib"}) {
    const Machine machine = find_machine(name);
    for (const auto by : {Prediction::rule, Prediction::simulation}) {
      const Advice advice = advise(matrix, machine, {.predict_by = by});
      const Schedule schedule = advised_schedule(matrix, machine, advice);
      if (advice.choice().scheduler == "drs_n") continue;
      EXPECT_FALSE(check(matrix, schedule, 0)) << advice.choice().name();
      EXPECT_TRUE(by == Prediction::rule || *advice.schedule == schedule);
    }
  }
}

/// bruck_kport once met in pairs with several partners in a phase.
TEST(Advise, EveryCandidateCanBeSimulated) {
  const CommMatrix matrix = random_density(12, 0.6, {64, 1}, 4);
  for (const ShippedMachine& shipped : shipped_machines()) {
    const Machine machine = find_machine(shipped.name);
    const Advice advice = advise(matrix, machine, {.predict_by = Prediction::simulation});
    for (const Candidate& candidate : advice.candidates)
      EXPECT_TRUE(!candidate.applicable || candidate.predicted_by == Prediction::simulation)
          << candidate.name() << " on " << shipped.name;
  }
}

TEST(Advise, WithoutMessagesThereIsNothingToDecide) {
  const Advice advice = advise(CommMatrix::from_messages(4, {}), find_machine("cm5-32"));
  EXPECT_EQ(advice.choice().exchange_s, 0);
  EXPECT_EQ(advice.bound_s, 0);
}

TEST(Advise, NonsenseIsRefusedBeforeAnyWork) {
  const CommMatrix matrix = random_regular(8, 3, {64, 1}, 1);
  const Machine machine = find_machine("ethernet-1g");
  const auto refused = [&](const AdviceOptions& options, const std::string& reason,
                           ErrorCode code = ErrorCode::invalid_argument) {
    EXPECT_ERROR(advise(matrix, machine, options), code, {reason});
  };
  refused({.candidates = {"nonsense"}}, "nonsense");
  refused({.candidates = {"rs_n:quickly"}}, "unknown executor \"quickly\"");
  refused({.candidates = {"rex:async"}}, "forwards");
  refused({.candidates = {"rex:depend"}}, "forwards");
  refused({.candidates = {"drs_n:phased"}}, "handshake");
  refused({.candidates = {"rs_n:handshake"}}, "drs_n only");
  refused({.reuse = 0}, "reuse is 0");
  refused({.budget_s = -1.0}, "budget");
  refused({.budget_s = std::nan("")}, "budget");
  refused({.candidates = {"drs_n"}}, "active message", ErrorCode::not_applicable);
  EXPECT_ERROR(advise(random_regular(65, 3, {64, 1}, 1), machine), ErrorCode::mismatch, {"65"});
  EXPECT_ERROR(planning_cost_s(matrix, "nonsense"), ErrorCode::invalid_argument, {"nonsense"});
}

TEST(Advise, EverySchedulerHasAPlanningCost) {
  const CommMatrix small = random_regular(8, 3, {64, 1}, 1);
  const CommMatrix large = random_regular(64, 30, {64, 1}, 1);
  for (const Scheduler& row : schedulers()) {
    EXPECT_GT(planning_cost_s(small, row.name), 0) << row.name;
    EXPECT_GT(planning_cost_s(large, row.name), planning_cost_s(small, row.name)) << row.name;
  }
}

// Eight ranks were once advised for a minute on a torus of a million.
TEST(Advise, TimeDoesNotGrowWithTheMachine) {
  const CommMatrix matrix = random_regular(8, 5, {1000, 8}, 2);
  Machine machine = find_machine("ethernet-10g");
  std::vector<std::string> texts;
  for (const std::string_view topology : {"torus:16x16", "torus:1024x1024"}) {
    machine.topology = make_topology(topology);
    const auto begin = std::chrono::steady_clock::now();
    Advice advice = advise(matrix, machine, {.predict_by = Prediction::simulation});
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
    advice.topology.clear();
    texts.push_back(to_json(advice));
  }
  // The first eight ranks of both are neighbours on one ring: nothing else differs.
  EXPECT_EQ(texts[0], texts[1]);
}

// Each rank has few bytes for all ranks and many for four: no schedule that treats both alike is as fast.
TEST(Advise, ForwardsSmallMessagesBesideLargeOnes) {
  std::vector<Message> entries;
  for (Rank src = 0; src < 64; ++src)
    for (Rank dst = 0; dst < 64; ++dst)
      if (src != dst) entries.push_back({src, dst, (dst - src + 64) % 16 == 9 ? 25'000 : 100});
  const CommMatrix matrix = CommMatrix::from_messages(64, entries);
  const Machine machine = find_machine("ethernet-10g");
  const Advice advice = advise(matrix, machine, {.reuse = 10000});
  EXPECT_EQ(advice.choice().name(), "forward_small:phased") << to_text(advice);
  // The rule counts small and large messages apart: it is within its uncertainty.
  const Advice ruled =
      advise(matrix, machine, {.candidates = {"forward_small"}, .predict_by = Prediction::rule});
  EXPECT_NEAR(ruled.choice().exchange_s / advice.choice().exchange_s, 1, 0.57);
}

// The adviser sees the links that its ranks may use. Each of their paths was once the route of all.
TEST(Advise, KnowsAllPathsOfAFewRanks) {
  const std::shared_ptr<const Topology> whole = make_topology("dragonfly:a=16,h=4,p=1,paths=6");
  const std::shared_ptr<const Topology> seen = advice::with_used_links(whole, 3);
  ASSERT_LT(seen->num_links(), whole->num_links());
  const auto ends_of = [](const Topology& topology, Rank dst, std::int64_t path) {
    std::vector<LinkId> route;
    topology.append_way(0, dst, path, route);
    std::vector<std::pair<std::int32_t, std::int32_t>> ends;
    for (const LinkId id : route) ends.emplace_back(topology.link(id).from, topology.link(id).to);
    return ends;
  };
  for (Rank dst = 1; dst < 3; ++dst) {
    ASSERT_EQ(seen->num_paths(0, dst), whole->num_paths(0, dst));
    for (std::int64_t path = no_path; path < whole->num_paths(0, dst); ++path)
      EXPECT_EQ(ends_of(*seen, dst, path), ends_of(*whole, dst, path)) << path;
  }
}

}  // namespace
}  // namespace nuice
