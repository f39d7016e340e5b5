// SPDX-License-Identifier: BSD-3-Clause
// Paths chosen on trees: phases without link contention for every matrix, proved by the checker.
#include "nuice/plan/paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <sstream>

#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

constexpr unsigned promised = direct | one_port | link_free;

std::optional<Violation> judged(const CommMatrix& matrix, const Schedule& schedule,
                                const Topology& topology) {
  return check(matrix, schedule, promised, &topology);
}

/// The same over other paths: path(src, dst, its own).
Schedule over(const Schedule& schedule, auto path) {
  Schedule result(schedule.num_ranks());
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    result.begin_phase();
    for (const Transfer transfer : schedule.transfers(phase)) {
      const Piece piece = transfer.pieces[0];
      result.add(transfer.src, transfer.dst, {&piece, 1}, path(transfer));
    }
  }
  return result;
}

TEST(ChoosePaths, OnFullTreesThereAreAsManyPhasesAsTheLargestDegree) {
  for (const char* const spec :
       {"fattree:6x6", "fattree:18x18", "fattree:4x4x4", "fattree:3x4x5", "fattree:2x2x2x2"}) {
    const auto tree = make_topology(spec);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const CommMatrix matrix = random_regular(tree->num_ranks(), 7, {1000, 9}, seed);
      const Schedule plan = choose_paths(make_schedule(matrix, "coloring"), *tree);
      EXPECT_EQ(plan.num_phases(), 7U);
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
    const Schedule plan = choose_paths(schedule, *tree);
    EXPECT_EQ(plan.num_phases(), schedule.num_phases()) << name;
    EXPECT_EQ(plan.num_transfers(), schedule.num_transfers()) << name;
    EXPECT_FALSE(judged(matrix, plan, *tree)) << name;
  }
}

TEST(ChoosePaths, ThinnedTreesTakeMorePhases) {
  for (const char* const spec : {"fattree:8x8/2", "fattree:8x4x4/2x2", "fattree:6x5/3"}) {
    const auto tree = make_topology(spec);
    const CommMatrix matrix = random_regular(tree->num_ranks(), 6, {}, 2);
    const Schedule plan = choose_paths(make_schedule(matrix, "coloring"), *tree);
    EXPECT_FALSE(judged(matrix, plan, *tree)) << spec << " " << judged(matrix, plan, *tree)->text;
    EXPECT_GT(plan.num_phases(), 6U);
    EXPECT_LE(plan.num_phases(), 6U * 4);
  }
}

TEST(ChoosePaths, WrongPathsAreFound) {
  const auto tree = make_topology("fattree:4x4");
  const CommMatrix matrix = random_regular(16, 4, {}, 1);
  const Schedule plan = choose_paths(make_schedule(matrix, "coloring"), *tree);
  EXPECT_FALSE(judged(matrix, plan, *tree));
  const auto violation = judged(matrix, over(plan, [](const Transfer&) { return 0; }), *tree);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->kind, ViolationKind::link_contention);
  for (const std::int64_t wrong : {std::int64_t{4}, std::int64_t{-2}}) {
    const auto bad = judged(matrix, over(plan, [&](const Transfer&) { return wrong; }), *tree);
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->kind, ViolationKind::bad_path);
    EXPECT_NE(bad->text.find("takes path " + std::to_string(wrong)), std::string::npos) << bad->text;
  }
  EXPECT_EQ(judged(matrix, over(plan, [](const Transfer&) { return no_path; }), *tree)->kind,
            ViolationKind::link_contention);  // the network's own routes
}

TEST(ClosColoring, TakesAsManyPhasesAsTheLargestDegree) {
  for (const char* const spec : {"fattree:6x6", "fattree:4x4x4", "fattree:3x5"}) {
    const auto tree = make_topology(spec);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const CommMatrix matrix = random_density(tree->num_ranks(), 0.4, {64, 32}, seed);
      const Schedule schedule =
          make_schedule(Problem{.matrix = matrix, .topology = tree.get()}, "clos_coloring");
      EXPECT_EQ(schedule.num_phases(), lower_bounds(matrix).max_degree);
      EXPECT_FALSE(judged(matrix, schedule, *tree)) << spec;
      EXPECT_EQ(link_rounds(schedule, *tree), schedule.num_phases());
    }
  }
}

TEST(ClosColoring, SaysWhereItCannotBe) {
  const CommMatrix matrix = random_regular(16, 4, {}, 1);
  const auto torus = make_topology("torus:4x4");
  EXPECT_ERROR(make_schedule(Problem{.matrix = matrix, .topology = torus.get()}, "clos_coloring"),
               ErrorCode::not_applicable, {"clos_coloring: paths", "torus:4x4"});
  EXPECT_ERROR(make_schedule(matrix, "clos_coloring"), ErrorCode::not_applicable, {"needs a network"});
}

TEST(Schedules, KeepTheirPathsInFiles) {
  const auto tree = make_topology("fattree:4x4");
  const CommMatrix matrix = random_density(16, 0.3, {64, 32}, 5);
  const ScheduleRecord record{
      .scheduler = "clos_coloring",
      .guarantees = promised,
      .matrix_fingerprint = matrix.fingerprint(),
      .schedule = make_schedule(Problem{.matrix = matrix, .topology = tree.get()}, "clos_coloring"),
      .topology = tree->name()};
  std::stringstream file;
  write_schedule(file, record, matrix);
  const ScheduleRecord again = read_schedule(file, "file", matrix);
  EXPECT_EQ(again.schedule, record.schedule);
  EXPECT_TRUE(again.schedule.has_paths());
  const std::string text = file.str();
  for (const auto& [from, to] : {std::pair{"@2", "@-2"}, std::pair{"@2", "@x"}}) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), 2, to);
    std::stringstream in(wrong);
    EXPECT_ERROR(read_schedule(in, "file", matrix), ErrorCode::parse, {"is no path @NUMBER"});
  }
}

TEST(ChoosePaths, WhatCannotBeIsRefused) {
  const CommMatrix matrix = random_regular(16, 4, {}, 1);
  const Schedule schedule = make_schedule(matrix, "coloring");
  EXPECT_ERROR(choose_paths(schedule, *make_topology("torus:4x4")), ErrorCode::not_applicable, {"torus:4x4"});
  EXPECT_ERROR(choose_paths(schedule, *make_topology("fattree:2x2")), ErrorCode::mismatch, {"4 ranks"});
  EXPECT_ERROR(choose_paths(make_schedule(matrix, "ac"), *make_topology("fattree:4x4")),
               ErrorCode::not_applicable, {"node contention"});
}

// --- path_list: searched, where no theorem says how ---------------------------------------------------------------

Bytes busiest_link(const Schedule& schedule, const Topology& net) {
  std::map<LinkId, Bytes> load;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    for (const Transfer transfer : schedule.transfers(phase)) {
      std::vector<LinkId> way;
      net.append_way(transfer.src, transfer.dst, transfer.path, way);
      for (const LinkId link : way)
        for (const Piece piece : transfer.pieces) load[link] += piece.bytes;
    }
  return std::ranges::max(load | std::views::values);
}

TEST(PathList, IsLinkListWhereThereIsNoChoice) {
  const CommMatrix matrix = random_regular(64, 9, {100000, 9}, 3);
  for (const char* const spec : {"torus:4x4x4", "hypercube:6", "tree:8x8/4", "crossbar:64"}) {
    const auto net = make_topology(spec);
    const Problem problem{.matrix = matrix, .topology = net.get()};
    EXPECT_EQ(make_schedule(problem, "path_list"), make_schedule(problem, "link_list")) << spec;
  }
}

TEST(PathList, TheBusiestLinkHasHardlyMoreThanTheBusiestPort) {
  for (const char* const spec : {"fattree:18x18", "fattree:8x8x8"}) {
    const auto tree = make_topology(spec);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const CommMatrix matrix = random_regular(tree->num_ranks(), 8, {65536, 1}, seed);
      const Schedule plan = make_schedule({.matrix = matrix, .topology = tree.get()}, "path_list");
      EXPECT_FALSE(judged(matrix, plan, *tree));
      const auto port = static_cast<double>(lower_bounds(matrix).max_port_bytes);
      EXPECT_GT(static_cast<double>(link_bounds(matrix, *tree).bytes), 1.8 * port);
      EXPECT_LT(static_cast<double>(busiest_link(plan, *tree)), 1.2 * port) << spec << seed;
    }
  }
}

// Kim et al. 2008, section 4: every group sends to the next one, and minimal routes give each pair of groups one cable.
TEST(PathList, DetoursRelieveADragonfly) {
  const auto net = make_topology("dragonfly:a=4,h=2,p=2,paths=9");
  std::vector<Message> messages;
  for (Rank rank = 0; rank < 72; ++rank) messages.push_back({rank, (rank + 8) % 72, 1 << 20});
  const CommMatrix matrix = CommMatrix::from_messages(72, messages);
  EXPECT_EQ(link_bounds(matrix, *net).bytes, 8 << 20);
  const Schedule plan = make_schedule({.matrix = matrix, .topology = net.get()}, "path_list");
  EXPECT_FALSE(judged(matrix, plan, *net));
  EXPECT_LE(busiest_link(plan, *net), 3 << 20);
}

// LMC 1: two ways to each port (tests/golden/ib).
TEST(PathList, TakesTheLidsOfAPort) {
  const auto net = make_topology("ib:" + std::string(NUICE_GOLDEN_DIR) + "/ib");
  const CommMatrix matrix = random_density(net->num_ranks(), 1, {1000, 1}, 1);
  const Schedule plan = make_schedule({.matrix = matrix, .topology = net.get()}, "path_list");
  EXPECT_TRUE(plan.has_paths());
  EXPECT_FALSE(judged(matrix, plan, *net));
  EXPECT_LE(busiest_link(plan, *net), link_bounds(matrix, *net).bytes);
}

}  // namespace
}  // namespace nuice
