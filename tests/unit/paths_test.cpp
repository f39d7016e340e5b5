// SPDX-License-Identifier: BSD-3-Clause
// Paths chosen on trees: phases without link contention for every matrix, proved by the checker.
#include "nuice/plan/paths.hpp"

#include <gtest/gtest.h>

#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

constexpr unsigned promised = direct | one_port | link_free;

std::optional<Violation> judged(const CommMatrix& matrix, const PathSchedule& plan,
                                const Topology& topology) {
  return check(matrix, plan.schedule, promised, &topology, plan.paths);
}

TEST(ChoosePaths, OnFullTreesThereAreAsManyPhasesAsTheLargestDegree) {
  for (const char* const spec :
       {"fattree:6x6", "fattree:18x18", "fattree:4x4x4", "fattree:3x4x5", "fattree:2x2x2x2"}) {
    const auto tree = make_topology(spec);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const CommMatrix matrix = random_regular(tree->num_ranks(), 7, {1000, 9}, seed);
      const PathSchedule plan = choose_paths(make_schedule(matrix, "coloring"), *tree);
      EXPECT_EQ(plan.schedule.num_phases(), 7U);
      EXPECT_FALSE(judged(matrix, plan, *tree)) << spec << " " << judged(matrix, plan, *tree)->text;
    }
  }
}

TEST(ChoosePaths, StaticRoutesNeedMorePhases) {
  const auto tree = make_topology("fattree:18x18");
  const CommMatrix matrix = random_regular(324, 8, {}, 1);
  EXPECT_TRUE(check(matrix, make_schedule(matrix, "coloring"), promised, tree.get()));
  EXPECT_GT(link_bounds(matrix, *tree).phases, 12);
}

TEST(ChoosePaths, AnySchedulesPhasesCanBeSentSo) {
  const auto tree = make_topology("fattree:4x4x4");
  const CommMatrix matrix = random_density(64, 0.3, {64, 32}, 5);
  for (const char* const name : {"rs_n", "coloring_by_size", "lpt", "birkhoff"}) {
    const Schedule schedule = make_schedule(matrix, name, 3);
    const PathSchedule plan = choose_paths(schedule, *tree);
    EXPECT_EQ(plan.schedule, schedule) << name;
    EXPECT_FALSE(judged(matrix, plan, *tree)) << name;
  }
}

TEST(ChoosePaths, ThinnedTreesTakeMorePhases) {
  for (const char* const spec : {"fattree:8x8/2", "fattree:8x4x4/2x2", "fattree:6x5/3"}) {
    const auto tree = make_topology(spec);
    const CommMatrix matrix = random_regular(tree->num_ranks(), 6, {}, 2);
    const PathSchedule plan = choose_paths(make_schedule(matrix, "coloring"), *tree);
    EXPECT_FALSE(judged(matrix, plan, *tree)) << spec << " " << judged(matrix, plan, *tree)->text;
    EXPECT_GT(plan.schedule.num_phases(), 6U);
    EXPECT_LE(plan.schedule.num_phases(), 6U * 4);
  }
}

TEST(ChoosePaths, WrongPathsAreFound) {
  const auto tree = make_topology("fattree:4x4");
  const CommMatrix matrix = random_regular(16, 4, {}, 1);
  PathSchedule plan = choose_paths(make_schedule(matrix, "coloring"), *tree);
  for (std::int64_t& path : plan.paths) path = 0;
  const auto violation = judged(matrix, plan, *tree);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->kind, ViolationKind::link_contention);
  plan.paths.pop_back();
  EXPECT_ERROR(judged(matrix, plan, *tree), ErrorCode::mismatch, {"paths"});
}

TEST(ChoosePaths, WhatCannotBeIsRefused) {
  const CommMatrix matrix = random_regular(16, 4, {}, 1);
  const Schedule schedule = make_schedule(matrix, "coloring");
  EXPECT_ERROR(choose_paths(schedule, *make_topology("torus:4x4")), ErrorCode::not_applicable, {"torus:4x4"});
  EXPECT_ERROR(choose_paths(schedule, *make_topology("fattree:2x2")), ErrorCode::mismatch, {"4 ranks"});
  EXPECT_ERROR(choose_paths(make_schedule(matrix, "ac"), *make_topology("fattree:4x4")),
               ErrorCode::not_applicable, {"node contention"});
}

}  // namespace
}  // namespace nuice
