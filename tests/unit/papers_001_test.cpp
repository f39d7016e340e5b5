// SPDX-License-Identifier: BSD-3-Clause
// 001 (regular and irregular patterns on the CM-5): its step tables, as files in tests/golden, and its
// arguments.
//
// Of the ten tables the copy we have shows the entries of 3 and 10 only; the files of the others hold what
// the printed algorithms do.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "nuice/nuice.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/step_table.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

CommMatrix complete(Rank num_ranks, Bytes bytes = 1) {
  return random_regular(num_ranks, num_ranks - 1, {.unit_bytes = bytes}, 0);
}

// Tables 1 to 4. In step 1 of table 3 (rex) the paper prints 3 <-> 6 and 5 <-> 7, where the algorithm of fig.
// 3 gives 2 <-> 6 and 3 <-> 7 (rank 2 would have no partner, and 5 two).
TEST(CompleteExchange, StepTablesOf8Ranks) {
  for (const auto& [scheduler, table] :
       {std::pair{"lex", "1"}, std::pair{"pex", "2"}, std::pair{"rex", "3"}, std::pair{"bex", "4"}}) {
    test::compare_with_golden("001_table" + std::string(table) + "." + scheduler + ".steps",
                              test::step_table(make_schedule(complete(8), scheduler)));
  }
}

TEST(CompleteExchange, PairwiseIsLinearPermutation) {
  for (const auto& [label, matrix] : test::random_matrices()) {
    EXPECT_EQ(make_schedule(matrix, "pex"), make_schedule(matrix, "lp")) << label;
  }
}

TEST(CompleteExchange, LinearSendsToOneRankInEachStep) {
  const Schedule schedule = make_schedule(complete(9), "lex");
  ASSERT_EQ(schedule.num_phases(), 9U);
  for (PhaseId phase = 0; phase < 9; ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase))
      EXPECT_EQ(transfer.dst, static_cast<Rank>(phase));
    EXPECT_TRUE(find_node_contention(schedule, phase)) << "eight send to one";
  }
}

// s.3.4, fat tree with clusters of four: pex is local in three steps and sends everything through the root in
// the others, at 8 ranks 8 transfers at a time. bex does so in one step and sends half in all others.
TEST(CompleteExchange, BalancedSpreadsTheCrossingsOfTheRoot) {
  using Counts = std::vector<int>;
  EXPECT_EQ(test::root_crossings(make_schedule(complete(8), "pex"), 4), (Counts{0, 0, 0, 8, 8, 8, 8}));
  EXPECT_EQ(test::root_crossings(make_schedule(complete(8), "bex"), 4), (Counts{4, 4, 4, 8, 4, 4, 4}));
}

// No pairing of 8 ranks is better: 32 transfers cross, in each of seven steps a multiple of 4 of them, since
// a cluster of four has an even number of ranks with a partner outside. So some step has more than 4.
TEST(CompleteExchange, BalancedIsAsEvenAsPairsCanBe) {
  const std::vector<int> crossings = test::root_crossings(make_schedule(complete(8), "bex"), 4);
  EXPECT_EQ(std::accumulate(crossings.begin(), crossings.end(), 0), 32);
  EXPECT_EQ(std::ranges::count(crossings, 4), 6);
  EXPECT_EQ(std::ranges::count(crossings, 8), 1);
}

// "In an N (N mod 16 = 0) processor system 3N/4 x N/2 exchange pairs use the root", four subtrees below it.
// pex has all of them in 3N/4 steps, bex has some in every step. But only one rank of each subtree changes
// its place, so the larger the subtrees, the less bex differs from pex: "optimally distributed" is true of
// clusters of four in 8 ranks.
TEST(CompleteExchange, CrossingsOfLargerTrees) {
  for (const Rank n : {16, 32, 64}) {
    const auto num_pairs = 3 * n / 4 * n / 2;
    const std::vector<int> pairwise = test::root_crossings(make_schedule(complete(n), "pex"), n / 4);
    const std::vector<int> balanced = test::root_crossings(make_schedule(complete(n), "bex"), n / 4);
    EXPECT_EQ(std::accumulate(pairwise.begin(), pairwise.end(), 0), 2 * num_pairs);
    EXPECT_EQ(std::accumulate(balanced.begin(), balanced.end(), 0), 2 * num_pairs);
    EXPECT_EQ(std::ranges::count(pairwise, n), 3 * n / 4);
    EXPECT_EQ(std::ranges::count(pairwise, 0), n / 4 - 1);
    EXPECT_EQ(std::ranges::min(balanced), 8)
        << "the four ranks that change their subtree, and their partners";
    EXPECT_LT(std::ranges::count(balanced, n), 3 * n / 4);
  }
  EXPECT_EQ(test::root_crossings(make_schedule(complete(16), "bex"), 4),
            (std::vector{8, 8, 8, 16, 12, 12, 12, 16, 16, 16, 16, 16, 12, 12, 12}));
}

TEST(RecursiveExchange, TakesLogarithmicallyManySteps) {
  for (const Rank n : {2, 4, 8, 16, 64}) {
    EXPECT_EQ(1 << make_schedule(complete(n), "rex").num_phases(), n);
  }
  EXPECT_EQ(make_schedule(complete(9), "rex").num_phases(), 5U)
      << "3 steps of 8 ranks, and rank 8 in and out";
}

// "Each message is of size n x N/2 for an exchange involving n bytes per processor."
TEST(RecursiveExchange, EachTransferCarriesHalfOfAllMessagesOfARank) {
  const Schedule schedule = make_schedule(complete(16, 10), "rex");
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    EXPECT_EQ(schedule.transfers(phase).size(), 16U);
    for (const Transfer& transfer : schedule.transfers(phase)) EXPECT_EQ(transfer.bytes(), 80);
  }
}

// Tables 7 to 10. Of table 10 our copy lacks the second line, of the others all entries; what it shows of
// table 10 is what the algorithm does.
TEST(IrregularPattern, StepTablesOfPatternP) {
  struct Printed {
    const char* scheduler;
    const char* table;
    PhaseId steps;
  };
  const CommMatrix pattern = test::pattern_p_of_001();
  ASSERT_EQ(pattern.num_messages(), 34U);
  for (const auto& [scheduler, table, steps] :
       {Printed{"ls", "7", 8}, Printed{"ps", "8", 6}, Printed{"bs", "9", 7}, Printed{"gs", "10", 6}}) {
    const Schedule schedule = make_schedule(pattern, scheduler);
    EXPECT_EQ(schedule.num_phases(), steps) << scheduler;
    test::compare_with_golden("001_table" + std::string(table) + "." + scheduler + ".steps",
                              test::step_table(schedule));
  }
}

TEST(IrregularPattern, GreedyMakesTheExchangesPrintedInTable10) {
  const std::vector<std::vector<const char*>> printed = {{"0 <-> 1", "4 <-> 5", "6 <-> 7"},
                                                         {"0 <-> 3", "4 <-> 7", "5 <-> 6"},
                                                         {"0 -> 5", "3 <-> 6"},
                                                         {"0 <-> 6", "3 <-> 4"},
                                                         {"1 -> 6", "4 -> 2", "7 -> 0"},
                                                         {"1 <-> 7", "6 -> 2"}};
  const Schedule schedule = make_schedule(test::pattern_p_of_001(), "gs");
  ASSERT_EQ(schedule.num_phases(), printed.size());
  for (PhaseId phase = 0; phase < printed.size(); ++phase) {
    const std::vector<std::string> ours = test::exchanges_of(schedule, phase);
    for (const char* exchange : printed[phase])
      EXPECT_EQ(std::ranges::count(ours, exchange), 1) << "step " << phase + 1 << ": " << exchange;
  }
}

TEST(IrregularPattern, SchedulingIsTheCompleteExchangeWithMessagesLeftOut) {
  for (const auto& [label, matrix] : test::random_matrices()) {
    EXPECT_EQ(make_schedule(matrix, "ls"), make_schedule(matrix, "lex")) << label;
    EXPECT_EQ(make_schedule(matrix, "ps"), make_schedule(matrix, "pex")) << label;
    EXPECT_EQ(make_schedule(matrix, "bs"), make_schedule(matrix, "bex")) << label;
  }
}

// s.4.4: "For a complete exchange operation this algorithm creates the same communication schedule as
// pairwise exchange."
TEST(IrregularPattern, GreedyIsPairwiseForACompleteExchange) {
  for (const Rank n : {2, 4, 8, 16, 64}) {
    EXPECT_EQ(make_schedule(complete(n), "gs"), make_schedule(complete(n), "pex")) << n;
  }
}

struct Sequence {
  std::vector<PhaseId> phase_of;
  std::set<std::pair<PhaseId, Rank>> busy;
};

/// Fails if a rank has two partners in one step.
Sequence sequence_in_pairs(const CommMatrix& matrix, const Schedule& schedule) {
  Sequence sequence{std::vector<PhaseId>(matrix.num_messages()), {}};
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    std::map<Rank, Rank> partner;
    for (const Transfer& transfer : schedule.transfers(phase)) {
      sequence.phase_of[transfer.pieces[0].message] = phase;
      for (const auto& [rank, other] :
           {std::pair{transfer.src, transfer.dst}, std::pair{transfer.dst, transfer.src}}) {
        EXPECT_EQ(partner.try_emplace(rank, other).first->second, other);
        sequence.busy.insert({phase, rank});
      }
    }
  }
  return sequence;
}

TEST(IrregularPattern, GreedyLetsNoMessageWaitWhileBothItsRanksAreIdle) {
  for (const auto& [label, matrix] : test::all_matrices()) {
    SCOPED_TRACE(label);
    const auto [phase_of, busy] = sequence_in_pairs(matrix, make_schedule(matrix, "gs"));
    for (MessageId id = 0; id < matrix.num_messages(); ++id) {
      for (PhaseId phase = 0; phase < phase_of[id]; ++phase) {
        ASSERT_TRUE(busy.contains({phase, matrix.src(id)}) || busy.contains({phase, matrix.dst(id)}))
            << matrix.src(id) << " -> " << matrix.dst(id) << " could have gone in phase " << phase;
      }
    }
  }
}

TEST(RecursiveExchange, NeedsOneTransferPerRankAndStepHoweverManyMessages) {
  const CommMatrix matrix = random_regular(16, 15, {.unit_bytes = 3, .max_units = 1}, 1);
  for (const PhaseTable& table : slice_all(matrix, make_schedule(matrix, "rex"))) {
    ASSERT_EQ(table.entries.size(), 4U);
    for (const PhaseEntry& entry : table.entries) {
      EXPECT_EQ(entry.send_parts.count, 8U);  // s.3.3: messages of n N / 2
      EXPECT_EQ(entry.send_bytes, 24);
    }
    // A rank receives n / 2 messages in each of log2 n steps, n - 1 of them for itself.
    EXPECT_EQ(staged_bytes(table), (4 * 8 - 15) * 3);
  }
}

}  // namespace
}  // namespace nuice
