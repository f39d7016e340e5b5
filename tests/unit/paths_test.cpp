// SPDX-License-Identifier: BSD-3-Clause
// Paths in schedules, and the scheduler that chooses them: proved by the checker on every path.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <sstream>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"
#include "support/topologies.hpp"

namespace nuice {
namespace {

constexpr unsigned promised = direct | one_port | link_free;

Schedule on_paths(const CommMatrix& matrix, const Topology& net) {
  return make_schedule({.matrix = matrix, .topology = &net}, "path_coloring");
}

/// The same schedule on other paths.
Schedule over(const Schedule& schedule, std::int64_t path) {
  Schedule result(schedule.num_ranks());
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    result.begin_phase();
    for (const Transfer transfer : schedule.transfers(phase)) {
      const Piece piece = transfer.pieces[0];
      result.add(transfer.src, transfer.dst, {&piece, 1}, path);
    }
  }
  return result;
}

Bytes busiest_link(const Schedule& schedule, const Topology& net) {
  std::map<LinkId, Bytes> load;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    for (const Transfer transfer : schedule.transfers(phase)) {
      std::vector<LinkId> way;
      net.append_way(transfer.src, transfer.dst, transfer.path, way);
      for (const LinkId link : way) load[link] += transfer.bytes();
    }
  return std::ranges::max(load | std::views::values);
}

void expect_link_free(const CommMatrix& matrix, const Schedule& schedule, const Topology& net) {
  const auto violation = check(matrix, schedule, promised, &net);
  EXPECT_FALSE(violation) << violation->text;
  EXPECT_LE(test::worst_excess(schedule, net), 0);
}

TEST(PathColoring, TakesTheFewestPhasesOnFullTrees) {
  for (const char* const spec :
       {"fattree:6x6", "fattree:18x18", "fattree:4x4x4", "fattree:3x4x5", "fattree:2x2x2x2"}) {
    SCOPED_TRACE(spec);
    const auto tree = make_topology(spec);
    for (const CommMatrix& matrix : {random_regular(tree->num_ranks(), 8, {1000, 9}, 1),
                                     random_density(tree->num_ranks(), 0.4, {64, 32}, 2)}) {
      const Schedule schedule = on_paths(matrix, *tree);
      expect_link_free(matrix, schedule, *tree);
      EXPECT_EQ(schedule.num_phases(), lower_bounds(matrix).max_degree);
    }
  }
  const CommMatrix matrix = random_regular(324, 8, {}, 1);
  EXPECT_GT(link_bounds(matrix, *make_topology("fattree:18x18")).phases, 12) << "what static routes need";
}

TEST(PathColoring, TakesNoMorePhasesThanStaticRoutesOnThinnedTrees) {
  for (const char* const spec : {"fattree:8x8/2", "fattree:8x4x4/2x2", "fattree:6x5/3", "fattree:6x6/2"}) {
    SCOPED_TRACE(spec);
    const auto tree = make_topology(spec);
    const CommMatrix matrix = random_regular(tree->num_ranks(), 6, {}, 2);
    const Schedule schedule = on_paths(matrix, *tree);
    expect_link_free(matrix, schedule, *tree);
    EXPECT_LE(schedule.num_phases(), link_bounds(matrix, *tree).phases);
  }
}

TEST(PathColoring, IsLinkColoringWhereThereIsNoChoice) {
  const CommMatrix matrix = random_regular(64, 9, {100000, 9}, 3);
  for (const char* const spec : {"torus:4x4x4", "hypercube:6", "tree:8x8/4", "crossbar:64"}) {
    const auto net = make_topology(spec);
    EXPECT_EQ(on_paths(matrix, *net),
              make_schedule({.matrix = matrix, .topology = net.get()}, "link_coloring"))
        << spec;
  }
}

// Kim et al. 2008, section 4: every group sends to the next one, and minimal
// routes give each pair of groups one cable.
TEST(PathColoring, DetoursRelieveADragonfly) {
  const auto net = make_topology("dragonfly:a=4,h=2,p=2,paths=9");
  std::vector<Message> messages;
  for (Rank rank = 0; rank < 72; ++rank) messages.push_back({rank, (rank + 8) % 72, 1 << 20});
  const CommMatrix matrix = CommMatrix::from_messages(72, messages);
  EXPECT_EQ(link_bounds(matrix, *net).bytes, 8 << 20);
  const Schedule schedule = on_paths(matrix, *net);
  expect_link_free(matrix, schedule, *net);
  EXPECT_LE(busiest_link(schedule, *net), 3 << 20);
}

// LMC 1: two paths to each port (tests/golden/ib).
TEST(PathColoring, TakesTheLidsOfAPort) {
  const auto net = make_topology("ib:" + std::string(NUICE_GOLDEN_DIR) + "/ib");
  const CommMatrix matrix = random_density(net->num_ranks(), 1, {1000, 1}, 1);
  const Schedule schedule = on_paths(matrix, *net);
  EXPECT_TRUE(schedule.has_paths());
  expect_link_free(matrix, schedule, *net);
  EXPECT_LE(busiest_link(schedule, *net), link_bounds(matrix, *net).bytes);
}

TEST(Paths, WrongOnesAreFound) {
  const auto tree = make_topology("fattree:4x4");
  const CommMatrix matrix = random_regular(16, 4, {}, 1);
  const Schedule right = on_paths(matrix, *tree);
  EXPECT_FALSE(check(matrix, right, promised, tree.get()));
  for (const std::int64_t path : {std::int64_t{0}, no_path}) {
    const auto violation = check(matrix, over(right, path), promised, tree.get());
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->kind, ViolationKind::link_contention);
  }
  for (const std::int64_t wrong : {std::int64_t{4}, std::int64_t{-2}}) {
    const auto violation = check(matrix, over(right, wrong), promised, tree.get());
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->kind, ViolationKind::bad_path);
    EXPECT_NE(violation->text.find("takes path " + std::to_string(wrong)), std::string::npos)
        << violation->text;
    EXPECT_ERROR(link_rounds(over(right, wrong), *tree), ErrorCode::mismatch, {"path", "has 4"});
  }
}

TEST(Paths, AreKeptInFiles) {
  const auto tree = make_topology("fattree:4x4");
  const CommMatrix matrix = random_density(16, 0.3, {64, 32}, 5);
  const ScheduleRecord record{.scheduler = "path_coloring",
                              .guarantees = promised,
                              .matrix_fingerprint = matrix.fingerprint(),
                              .schedule = on_paths(matrix, *tree),
                              .topology = tree->name()};
  std::stringstream file;
  write_schedule(file, record, matrix);
  const ScheduleRecord again = read_schedule(file, "file", matrix);
  EXPECT_EQ(again.schedule, record.schedule);
  EXPECT_TRUE(again.schedule.has_paths());
  EXPECT_NE(again.schedule, over(record.schedule, no_path));
  for (const char* const other : {"@-2", "@x"}) {
    std::string wrong = file.str();
    wrong.replace(wrong.find("@2"), 2, other);
    std::stringstream in(wrong);
    EXPECT_ERROR(read_schedule(in, "file", matrix), ErrorCode::parse, {"is not a path @NUMBER"});
  }
}

}  // namespace
}  // namespace nuice
