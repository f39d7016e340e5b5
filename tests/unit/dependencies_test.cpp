// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/dependencies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using Ids = std::vector<std::uint32_t>;

Ids ids(std::span<const std::uint32_t> of) { return {of.begin(), of.end()}; }

Schedule in_phases(const CommMatrix& matrix, const std::vector<PhaseId>& phase_of, PhaseId num_phases) {
  return Schedule::of_whole_messages(matrix, phase_of, num_phases);
}

TEST(Dependencies, ArePortsAndLinksInTheOrderOfTheSchedule) {
  // On a line 0 - 1 - 2 - 3: 0>3 in phase 0; 1>2 shares a link with it in phase 1;
  // 0>1 its port and a link in phase 2.
  const std::vector<Message> entries{{0, 1, 5}, {0, 3, 5}, {1, 2, 5}};
  const CommMatrix matrix = CommMatrix::from_messages(4, entries);
  const Schedule schedule = in_phases(matrix, {2, 0, 1}, 3);
  const auto line = make_topology("mesh:4");
  const Dependencies before = dependencies(schedule, line.get());
  EXPECT_EQ(ids(before.of(0)), Ids{});
  EXPECT_EQ(ids(before.of(1)), Ids{0});
  EXPECT_EQ(ids(before.of(2)), Ids{0});
  const Dependencies ports = dependencies(schedule, nullptr);
  EXPECT_EQ(ids(ports.of(1)), Ids{});
  EXPECT_EQ(ids(ports.of(2)), Ids{0});
}

TEST(Dependencies, ALinkWithTwoSlotsCarriesTwoAtATime) {
  const auto tree = make_topology("tree:4x2/2");  // two at a time up from each switch
  std::vector<Message> entries;
  for (Rank rank = 0; rank < 4; ++rank) entries.push_back({rank, rank + 4, 5});
  const CommMatrix matrix = CommMatrix::from_messages(8, entries);
  const Dependencies before = dependencies(in_phases(matrix, {0, 0, 1, 1}, 2), tree.get());
  EXPECT_EQ(ids(before.of(2)), Ids{0});
  EXPECT_EQ(ids(before.of(3)), Ids{1});
}

/// Every message that shares a link or a port waits for all earlier ones, over others if not directly.
TEST(Dependencies, OrderAllThatShareAnything) {
  const auto tree = make_topology("fattree:4x4/2");
  const CommMatrix matrix = random_regular(16, 5, {}, 3);
  const Schedule schedule = make_schedule({.matrix = matrix, .topology = tree.get()}, "link_coloring");
  const Dependencies before = dependencies(schedule, tree.get());
  std::vector<std::set<std::uint32_t>> all(schedule.num_transfers());
  std::vector<std::set<LinkId>> uses;
  for (std::uint32_t id = 0; id < schedule.num_transfers(); ++id) {
    const Transfer transfer = schedule.transfer(id);
    std::vector<LinkId> route;
    tree->append_route(transfer.src, transfer.dst, route);
    uses.emplace_back(route.begin(), route.end());
    for (const std::uint32_t earlier : before.of(id)) {
      ASSERT_LT(earlier, id);
      all[id].insert(earlier);
      all[id].insert(all[earlier].begin(), all[earlier].end());
    }
    for (std::uint32_t earlier = 0; earlier < id; ++earlier) {
      const Transfer other = schedule.transfer(earlier);
      const bool shares = other.src == transfer.src || other.dst == transfer.dst ||
                          std::ranges::any_of(route, [&](LinkId l) { return uses[earlier].contains(l); });
      EXPECT_TRUE(!shares || all[id].contains(earlier));
    }
  }
}

TEST(Dependencies, AreOfTheChosenPaths) {
  const auto tree = make_topology("fattree:2x2");
  const std::vector<Message> entries{{0, 2, 5}, {1, 3, 5}};
  const CommMatrix matrix = CommMatrix::from_messages(4, entries);
  const auto over = [&](std::int64_t first, std::int64_t second) {
    Schedule schedule(4);
    for (const auto& [message, path] : {std::pair{0U, first}, std::pair{1U, second}}) {
      const Piece whole{message, 0, 5};
      schedule.begin_phase();
      schedule.add(matrix.src(message), matrix.dst(message), {&whole, 1}, path);
    }
    return schedule;
  };
  EXPECT_EQ(dependencies(over(1, 1), tree.get()).before.size(), 1U);
  EXPECT_EQ(dependencies(over(0, 1), tree.get()).before.size(), 0U);
  EXPECT_EQ(dependencies(over(no_path, 1), tree.get()).before.size(), 0U);  // d-mod-k takes path 0 to rank 2
  EXPECT_ERROR(dependencies(over(0, 2), tree.get()), ErrorCode::mismatch, {"path 2", "has 2"});
  const Schedule schedule = over(0, 1);
  EXPECT_ERROR(dependencies(schedule, make_topology("crossbar:3").get()), ErrorCode::mismatch, {"ranks"});
}

TEST(Paths, OfTheTopologiesAreDifferentWays) {
  for (const char* const spec :
       {"fattree:4x4", "fattree:4x4x3/2", "dragonfly:a=4,h=2,p=2,g=3", "dragonfly:a=4,h=2,p=2,paths=6",
        "dragonfly:a=3,h=2,p=1,g=4,paths=9", "dragonfly:a=2,h=2,p=2,g=2,paths=9", "torus:4x4"}) {
    const auto network = make_topology(spec);
    for (Rank src = 0; src < network->num_ranks(); src += 3) {
      for (Rank dst = 0; dst < network->num_ranks(); ++dst) {
        std::set<std::vector<LinkId>> ways;
        const std::int64_t num_paths = network->num_paths(src, dst);
        for (std::int64_t path = 0; path < num_paths; ++path) {
          std::vector<LinkId> way;
          network->append_path(src, dst, path, way);
          for (std::size_t i = 1; i < way.size(); ++i)
            EXPECT_EQ(network->link(way[i]).from, network->link(way[i - 1]).to);
          ways.insert(way);
        }
        EXPECT_EQ(std::ssize(ways), num_paths);
        std::vector<LinkId> route;
        network->append_route(src, dst, route);
        EXPECT_TRUE(ways.contains(route)) << spec;
      }
    }
  }
}

}  // namespace
}  // namespace nuice
