// SPDX-License-Identifier: BSD-3-Clause
// Distributed planning with all ranks in one process: what comes out is a schedule that check() finds right,
// in about D phases and W bytes, and the same for the same seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "nuice/nuice.hpp"
#include "support/scale/changes.hpp"
#include "support/scale/patterns.hpp"
#include "support/scale/planned.hpp"
#include "support/throws.hpp"

namespace nuice::scale {
namespace {

struct Case {
  const char* pattern;
  const char* sizes;
  Rank num_ranks;
  Rank degree;
  double most_phases;  // over D
  double most_bytes;   // over W
};

class AtScale : public testing::TestWithParam<Case> {};

TEST_P(AtScale, PlansAreRightAndShort) {
  const auto& [pattern, sizes, num_ranks, degree, most_phases, most_bytes] = GetParam();
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Planned planned = plan(make_rows(pattern, sizes, num_ranks, degree, seed), seed);
    const CommMatrix matrix = matrix_of(planned.sends);
    const Schedule schedule = schedule_of(planned, matrix);
    const auto violation = check(matrix, schedule, direct | one_port);
    ASSERT_FALSE(violation) << violation->text;
    EXPECT_LE(schedule.num_phases(), most_phases * lower_bounds(matrix).max_degree);
    EXPECT_LE(static_cast<double>(phase_bytes(schedule)),
              most_bytes * static_cast<double>(whole_message_bytes(matrix)));
    EXPECT_EQ(planned.receives.colours, transposed(planned.sends).colours);  // both ends agree
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, AtScale,
    testing::Values(Case{"random", "equal", 1024, 64, 1.02, 1.02},
                    Case{"random", "equal", 1024, 32, 1.04, 1.04},
                    Case{"random", "equal", 40, 39, 1.06, 1.06},
                    Case{"random", "uniform", 1024, 64, 1.05, 1.10},
                    Case{"random", "zipf", 1024, 64, 1.08, 1.105}, Case{"stencil", "equal", 1000, 26, 1, 1},
                    Case{"stencil", "equal", 1001, 8, 1, 1}, Case{"stencil", "equal", 1001, 26, 1, 1},
                    Case{"mesh", "equal", 2000, 12, 1, 1}, Case{"mesh", "uniform", 2000, 12, 1.2, 1.2},
                    Case{"power", "equal", 2000, 16, 1, 1}, Case{"power", "zipf", 2000, 16, 1.2, 1.2},
                    Case{"random", "equal", 7, 1, 1, 1}, Case{"random", "equal", 1, 0, 1, 1}));

TEST(AtScale, GivesTheSamePlanForTheSameSeedOnly) {
  const Rows rows = make_rows("random", "uniform", 200, 12, 5);
  const Planned one = plan(rows, 7);
  EXPECT_EQ(one.sends.colours, plan(rows, 7).sends.colours);
  EXPECT_NE(one.sends.colours, plan(rows, 8).sends.colours);
}

TEST(AtScale, WritesFewLetters) {
  const Planned planned = plan(make_rows("random", "equal", 4096, 32, 1));
  EXPECT_LE(planned.letters(), 20 * planned.sends.size());
  EXPECT_LE(planned.rounds, 25 * 12);  // log2 of the ranks
}

TEST(AtScale, FollowsAChangedMatrixWithFewLetters) {
  Planned planned = plan(make_rows("random", "equal", 2048, 32, 3));
  const Palette palette(std::vector<Bytes>(planned.num_colours, 1024));
  const std::vector<Rank> before = planned.sends.partners;
  Random random(4);
  const std::uint64_t changed = exchange_partners(planned.sends, 0.01, random);
  EXPECT_NEAR(static_cast<double>(changed), 0.01 * static_cast<double>(before.size()), 4);
  EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count(planned.sends.colours, no_colour)), changed);
  EXPECT_NE(planned.sends.partners, before);

  const Planned follows = plan(planned.sends, 1, &palette);
  const CommMatrix matrix = matrix_of(follows.sends);
  const auto violation = check(matrix, schedule_of(follows, matrix), direct | one_port);
  ASSERT_FALSE(violation) << violation->text;
  EXPECT_LE(follows.letters(), before.size() / 2);
  EXPECT_LE(follows.num_colours, planned.num_colours + 1);
}

/// Where every message settles in two rounds, walking costs more than a phase.
TEST(AtScale, FollowsAChangedStencilForAFewLettersAMessage) {
  Planned planned = plan(make_rows("stencil", "equal", 8000, 26, 3));
  EXPECT_EQ(planned.rounds, 2);
  const Palette palette(std::vector<Bytes>(planned.num_colours, 1024));
  Random random(4);
  const std::uint64_t changed = exchange_partners(planned.sends, 0.01, random);
  const Planned follows = plan(planned.sends, 1, &palette);
  EXPECT_LE(follows.letters(), 12 * changed);
  EXPECT_LE(follows.num_colours, 27);
}

TEST(AtScale, CountsSizesInQuartersOfAPowerOfTwo) {
  for (const Bytes size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 1000, 1024, 1 << 20, (1 << 20) + 1}) {
    SizeCounts counts;
    counts.add(size);
    EXPECT_GE(counts.size_below(0), size);
    EXPECT_LE(counts.size_below(0), size + size / 4);
    EXPECT_EQ(counts.size_below(0.9), counts.size_below(0));
  }
  SizeCounts counts;
  for (const Bytes size : {max_bytes, Bytes{1000}, Bytes{1000}, Bytes{1}}) counts.add(size);
  EXPECT_GE(counts.size_below(0), max_bytes);
  EXPECT_GE(counts.size_below(0.25), 1000);
  EXPECT_LE(counts.size_below(0.7), 1250);
  EXPECT_EQ(counts.size_below(0.75), 1);
  EXPECT_EQ(SizeCounts().size_below(0), 0);
}

TEST(AtScale, SpreadsNewPhasesOverTheSizesThatLackOne) {
  const Planned planned = plan(make_rows("random", "zipf", 1024, 64, 0));
  std::vector<Bytes> largest(planned.num_colours, 0);
  for (std::size_t i = 0; i < planned.sends.bytes.size(); ++i)
    largest[planned.sends.colours[i]] = std::max(largest[planned.sends.colours[i]], planned.sends.bytes[i]);
  const std::vector<Bytes> limits = limits_of(planned.sends, planned.receives);
  const double bytes = std::accumulate(largest.begin(), largest.end(), 0.0);
  EXPECT_LE(bytes,
            1.025 * std::accumulate(limits.begin(), limits.end(), 0.0));  // 1.075 with the largest alone
}

/// A new phase for a message of 1000 bytes would cost half of W, so another phase's limit rises from 900.
TEST(AtScale, RaisesALimitWhereANewPhaseWouldCostMore) {
  std::vector<Bytes> limits(100, 1);
  limits[0] = 1000;
  limits[1] = 900;
  Palette palette(limits);
  SizeCounts unsettled;
  unsettled.add(1000);
  int rounds = 0;
  for (; !palette.allows(1, 1000) && rounds < 2000; ++rounds)
    if (palette.needs_more(1)) palette.add(unsettled);
  EXPECT_EQ(palette.size(), limits.size());
  EXPECT_GT(rounds, 100);  // 1 % of W is worth 20 rounds
  EXPECT_LT(rounds, 250);
  EXPECT_FALSE(palette.allows(2, 2));
}

TEST(AtScale, TablesAreSlicesOfTheSchedule) {
  Planned planned = plan(make_rows("random", "uniform", 60, 9, 2));
  const CommMatrix matrix = matrix_of(planned.sends);
  const Schedule schedule = schedule_of(planned, matrix);
  const std::vector<PhaseId> phase_of = phases_of(used_colours(planned));
  for (Rank rank = 0; rank < 60; ++rank)
    EXPECT_EQ(
        table_of(planned.sends.side(rank), planned.receives.side(rank), phase_of, schedule.num_phases(), 60),
        slice(matrix, schedule, rank));
}

// Chains of messages of much the same size that make way for each other:
// 16.6 letters a message and 67 phases.
TEST(AtScale, UniformSizesNeedFewLetters) {
  const Planned planned = plan(make_rows("random", "uniform", 512, 64, 0), 0);
  EXPECT_LE(std::ranges::count(used_colours(planned), 1), 66);
  EXPECT_LE(planned.letters(), 12 * planned.sends.size());
}

/// In a mesh most ranks have phases to spare, only too short ones: then chains end soon. Without chains 22
/// phases are added in 20 such meshes.
TEST(AtScale, UniformSizesInAMeshNeedHardlyMorePhasesThanTheBusiestRank) {
  std::ptrdiff_t added = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Planned planned = plan(make_rows("mesh", "uniform", 1000, 18, seed), seed);
    added +=
        std::ranges::count(used_colours(planned), 1) - std::ssize(limits_of(planned.sends, planned.receives));
    EXPECT_LE(planned.letters(), 4 * planned.sends.size());
  }
  EXPECT_LE(added, 5);
}

TEST(AtScale, CutsMessagesIntoEqualPiecesAndARest) {
  const std::vector<Rank> partners = {3, 5, 8};
  const std::vector<Bytes> sizes = {100, 250, 16'001};
  const CutMessages pieces = cut_messages(partners, sizes, Cut{100});
  ASSERT_EQ(pieces.bytes.size(), 1 + 3 + Cut::most_pieces);
  EXPECT_EQ(std::vector(pieces.bytes.begin(), pieces.bytes.begin() + 5),
            (std::vector<Bytes>{100, 100, 100, 50, 1001}));
  EXPECT_EQ(pieces.bytes.back(), 16'001 - 15 * 1001);
  EXPECT_EQ(std::ranges::count(pieces.partners, 5), 3);
  EXPECT_EQ(std::ranges::count(pieces.messages, 2U), static_cast<std::ptrdiff_t>(Cut::most_pieces));
  EXPECT_EQ(cut_messages(partners, sizes, Cut()).bytes, sizes);
}

TEST(AtScale, RefusesMorePhasesThanATableHas) {
  EXPECT_ERROR(Palette(std::vector<Bytes>(70000, 1)), ErrorCode::limit, {"70000"});
}

}  // namespace
}  // namespace nuice::scale
