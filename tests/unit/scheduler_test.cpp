// SPDX-License-Identifier: BSD-3-Clause
// What is special to single schedulers, and the table itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(Table, NamesAreUniqueWordsWithTextAndSource) {
  std::set<std::string_view> names;
  for (const Scheduler& scheduler : schedulers()) {
    EXPECT_TRUE(names.insert(scheduler.name).second) << scheduler.name;
    EXPECT_EQ(scheduler.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789"),
              std::string_view::npos);
    EXPECT_FALSE(scheduler.summary.empty());
    EXPECT_FALSE(scheduler.source.empty());
  }
}

TEST(Table, UnknownNameListsTheKnownOnes) {
  EXPECT_ERROR(find_scheduler("rs_x"), ErrorCode::invalid_argument, {"ac, lp, gm, cgm, rs_n, coloring"});
}

TEST(Ac, IsOnePhaseInRandomOrder) {
  const CommMatrix matrix = random_regular(32, 31, {}, 1);
  const Schedule schedule = make_schedule(matrix, "ac", 5);
  EXPECT_EQ(schedule.num_phases(), 1U);
  std::set<Rank> first_destinations;
  Rank sender = no_rank;
  for (const Transfer& transfer : schedule.transfers(0)) {
    if (transfer.src != sender) first_destinations.insert(transfer.dst);
    sender = transfer.src;
  }
  EXPECT_GT(first_destinations.size(), 10U) << "most ranks begin with the same receiver";
}

TEST(Lp, PairsByExclusiveOrForPowersOfTwo) {
  const CommMatrix matrix = random_regular(16, 15, {}, 1);
  const Schedule schedule = make_schedule(matrix, "lp");
  ASSERT_EQ(schedule.num_phases(), 15U);
  for (PhaseId phase = 0; phase < 15; ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      EXPECT_EQ(transfer.dst, transfer.src ^ static_cast<Rank>(phase + 1));
    }
  }
}

TEST(Lp, PairsAnyNumberOfRanksInTheFewestRounds) {
  for (Rank n = 2; n <= 40; ++n) {
    const CommMatrix matrix = random_regular(n, n - 1, {}, 1);
    const Schedule schedule = make_schedule(matrix, "lp");
    EXPECT_EQ(schedule.num_phases(), static_cast<PhaseId>(n % 2 == 0 ? n - 1 : n)) << n;
    for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
      std::set<std::pair<Rank, Rank>> pairs;
      for (const Transfer& transfer : schedule.transfers(phase)) pairs.insert({transfer.src, transfer.dst});
      for (const auto& [src, dst] : pairs)
        EXPECT_TRUE(pairs.contains({dst, src})) << n << ": " << src << " " << dst;
    }
  }
}

TEST(Cgm, IsTheSameAsRsN) {
  const CommMatrix matrix = random_density(40, 0.3, {}, 2);
  EXPECT_EQ(make_schedule(matrix, "cgm", 11), make_schedule(matrix, "rs_n", 11));
}

/// In a greedy schedule a message waits only while its sender or its receiver is busy with another one.
void expect_greedy(const CommMatrix& matrix, const Schedule& schedule) {
  const auto ranks = static_cast<std::size_t>(matrix.num_ranks());
  const auto cell = [&](PhaseId phase, Rank rank) { return phase * ranks + static_cast<std::size_t>(rank); };
  std::vector<PhaseId> phase_of(matrix.num_messages());
  std::vector<char> sends(schedule.num_phases() * ranks);
  std::vector<char> receives(schedule.num_phases() * ranks);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      phase_of[transfer.pieces[0].message] = phase;
      sends[cell(phase, transfer.src)] = 1;
      receives[cell(phase, transfer.dst)] = 1;
    }
  }
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    for (PhaseId phase = 0; phase < phase_of[id]; ++phase) {
      if (sends[cell(phase, matrix.src(id))] == 0 && receives[cell(phase, matrix.dst(id))] == 0)
        FAIL() << matrix.src(id) << " -> " << matrix.dst(id) << " could have gone in phase " << phase;
    }
  }
}

TEST(Greedy, NoMessageWaitsWithoutReason) {
  for (const char* name : {"gm", "cgm", "rs_n", "lpt"}) {
    for (const auto& [label, matrix] : test::random_matrices()) {
      SCOPED_TRACE(label);
      const Schedule schedule = make_schedule(matrix, name, 1);
      expect_greedy(matrix, schedule);
      if (matrix.num_messages() > 0) {
        EXPECT_LE(schedule.num_phases(), 2 * lower_bounds(matrix).max_degree - 1);
      }
    }
  }
}

double mean_phases(const char* scheduler, Rank n, Rank degree, int samples) {
  double sum = 0;
  for (int i = 0; i < samples; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    sum += make_schedule(random_regular(n, degree, {}, seed), scheduler, seed).num_phases();
  }
  return sum / samples;
}

// 003 tables 2, 3 (32 ranks): printed means of phases. NUICE's are of other random matrices: a few percent
// apart.
TEST(Papers, MeanPhasesAreThoseOfTables2And3) {
  struct Printed {
    Rank degree;
    double gm;
    double cgm;
  };
  for (const auto& [degree, gm, cgm] : {Printed{4, 5.64, 5.54}, Printed{8, 10.26, 10.10},
                                        Printed{16, 18.58, 18.56}, Printed{24, 26.56, 26.60}}) {
    EXPECT_NEAR(mean_phases("gm", 32, degree, 200), gm, 0.05 * gm) << degree;
    EXPECT_NEAR(mean_phases("cgm", 32, degree, 200), cgm, 0.05 * cgm) << degree;
  }
}

// 003 table 4: phases of CGM; the claim is d + log2 d.
TEST(Papers, MeanPhasesAreThoseOfTable4) {
  struct Printed {
    Rank ranks;
    Rank degree;
    double phases;
  };
  for (const auto& [ranks, degree, phases] :
       {Printed{32, 31, 34.2}, Printed{128, 8, 10.7}, Printed{128, 32, 36.3}, Printed{512, 16, 20.0}}) {
    const double mean = mean_phases("cgm", ranks, degree, 40);
    EXPECT_NEAR(mean, phases, 0.05 * phases) << ranks << " " << degree;
    EXPECT_LE(mean, 1.05 * (degree + std::log2(degree))) << ranks << " " << degree;
  }
}

TEST(Gm, PlansForVeryManyRanks) {
  const CommMatrix matrix = test::matrix_of(2000000, {{0, 1, 1}, {1999999, 1, 2}});
  EXPECT_EQ(make_schedule(matrix, "gm").num_phases(), 2U);
}

void expect_fewest_phases(const CommMatrix& matrix) {
  const auto violation = check(matrix, make_schedule(matrix, "coloring"), direct | one_port | fewest_phases);
  EXPECT_FALSE(violation) << violation->text;
}

// Regular matrices have no slack: every rank is busy in every phase. All ways to take a degree apart occur.
TEST(Coloring, NeedsTheDegreeForEveryDegree) {
  for (Rank degree = 1; degree < 70; ++degree) {
    SCOPED_TRACE(degree);
    for (std::uint64_t seed = 0; seed < 3; ++seed) expect_fewest_phases(random_regular(70, degree, {}, seed));
  }
}

// Few busy ranks among many idle ones: ranks are merged, and fillers make up what is left.
TEST(Coloring, NeedsTheDegreeForSkewedMatrices) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto num_ranks = static_cast<Rank>(3 + random.below(60));
    std::map<std::pair<Rank, Rank>, Message> messages;
    const std::uint64_t wanted = random.below(400);
    for (std::uint64_t i = 0; i < wanted; ++i) {
      // The product of two draws prefers low ranks.
      const auto n = static_cast<std::uint64_t>(num_ranks);
      const auto src = static_cast<Rank>(random.below(n) * random.below(n) / n);
      const auto dst = static_cast<Rank>(random.below(n) * random.below(n) / n);
      if (src != dst) messages[{src, dst}] = {src, dst, 1};
    }
    std::vector<Message> entries;
    for (const auto& [ends, message] : messages) entries.push_back(message);
    expect_fewest_phases(CommMatrix::from_messages(num_ranks, entries));
  }
}

/// log2 n phases for any n where phases are expensive, no forwarding where they cost nothing.
void expect_radix_suits(Rank n) {
  const CommMatrix matrix = test::everybody_to_everybody(n, 8);
  const Schedule few = make_schedule(matrix, "bruck", 0, 1 << 20);
  EXPECT_EQ(few.num_phases(), static_cast<PhaseId>(std::bit_width(static_cast<std::uint32_t>(n - 1))));
  const Schedule straight = make_schedule(matrix, "bruck", 0, 0);
  EXPECT_FALSE(check(matrix, straight, direct | one_port));
  EXPECT_EQ(straight.num_phases(), static_cast<PhaseId>(n - 1));
  const Bytes phase_cost = Bytes{8} * n;
  const Schedule middle = make_schedule(matrix, "bruck", 0, phase_cost);
  const auto cost = [&](const Schedule& s) { return Bytes{s.num_phases()} * phase_cost + phase_bytes(s); };
  EXPECT_LE(cost(middle), std::min(cost(few), cost(straight)));
}

TEST(Bruck, TakesTheRadixThatSuitsThePhaseCost) {
  for (Rank n = 2; n <= 33; ++n) {
    SCOPED_TRACE(n);
    expect_radix_suits(n);
  }
}

TEST(Bruck, LeavesOutPhasesThatNoMessageNeeds) {
  const CommMatrix matrix = test::matrix_of(1000, {{0, 512, 5}, {700, 700 - 488, 5}, {3, 515, 1}});
  const Schedule schedule = make_schedule(matrix, "bruck");
  EXPECT_EQ(schedule.num_phases(), 1U);
  EXPECT_EQ(schedule.num_pieces(), 3U);
}

/// All to all among 100 ranks, with one message of `large` bytes from each rank to the one 37 ahead.
CommMatrix mostly_small(Bytes small, Bytes large) {
  std::vector<Message> entries;
  for (Rank src = 0; src < 100; ++src)
    for (Rank dst = 0; dst < 100; ++dst)
      if (src != dst) entries.push_back({src, dst, (dst - src + 100) % 100 == 37 ? large : small});
  return CommMatrix::from_messages(100, entries);
}

TEST(ForwardSmall, SendsLargeMessagesStraightInTheLastPhase) {
  const CommMatrix matrix = mostly_small(100, 101);
  const Schedule schedule = make_schedule(matrix, "forward_small", 0, 400);
  EXPECT_FALSE(check(matrix, schedule, 0));
  ASSERT_EQ(schedule.num_phases(), 2U);
  // 9 transfers of small messages from each rank in each phase, and the large one.
  EXPECT_EQ(schedule.num_transfers(), 100U * 19);
  std::size_t straight = 0;
  for (const Transfer& transfer : schedule.transfers(1)) {
    if (transfer.pieces[0].bytes != 101) continue;
    ++straight;
    EXPECT_EQ(transfer.pieces.size(), 1U);
    EXPECT_EQ((transfer.dst - transfer.src + 100) % 100, 37);
  }
  EXPECT_EQ(straight, 100U);
}

TEST(ForwardSmall, IsBruckOrOnePhaseWhereAllAreSmallOrLarge) {
  const CommMatrix matrix = mostly_small(100, 101);
  EXPECT_EQ(make_schedule(matrix, "forward_small", 0, 404), make_schedule(matrix, "bruck_kport"));
  const Schedule straight = make_schedule(matrix, "forward_small", 0, 396);
  EXPECT_FALSE(check(matrix, straight, direct));
  EXPECT_EQ(straight.num_phases(), 1U);
  const Transfer first = straight.transfer(0);
  EXPECT_EQ(first.dst, first.src + 1);
}

}  // namespace
}  // namespace nuice
