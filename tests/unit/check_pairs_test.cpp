// SPDX-License-Identifier: BSD-3-Clause
// The distributed check finds what check() finds: every change of a right
// set of tables is noticed by somebody.
#include <gtest/gtest.h>

#include "nuice/core/check_pairs.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

/// By all ranks, as they would on a network.
std::optional<Violation> check_tables(const std::vector<PhaseTable>& tables) {
  for (const PhaseTable& table : tables)
    if (auto violation = check_alone(table, one_port)) return violation;
  for (const PhaseTable& to : tables) {
    const Claims expected = claims(to, Direction::receive);
    for (const PhaseTable& from : tables) {
      const Claims sent = claims(from, Direction::send);
      std::span<const Claim> told;
      std::span<const Claim> hoped;
      for (std::size_t i = 0; i < from.destinations.size(); ++i)
        if (from.destinations[i].rank == to.rank) told = sent.of(i);
      for (std::size_t i = 0; i < to.sources.size(); ++i)
        if (to.sources[i].rank == from.rank) hoped = expected.of(i);
      if (from.rank == to.rank) continue;
      if (auto violation = compare_claims(from.rank, to.rank, told, hoped)) return violation;
    }
  }
  return std::nullopt;
}

class CheckPairs : public testing::TestWithParam<const char*> {};

TEST_P(CheckPairs, AgreesWithCheckOnRightSchedules) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const CommMatrix matrix = random_density(12, 0.4, {64, 32}, seed);
    const Schedule schedule = make_schedule({.matrix = matrix, .seed = seed}, GetParam());
    ASSERT_FALSE(check(matrix, schedule, one_port | direct));
    const auto violation = check_tables(slice_all(matrix, schedule));
    EXPECT_FALSE(violation) << violation->text;
  }
}

/// What any one field of any one entry may become, one change at a time: all of it is found.
TEST_P(CheckPairs, FindsEveryChange) {
  const CommMatrix matrix = random_density(7, 0.5, {8, 8}, 1);
  const Schedule schedule = make_schedule({.matrix = matrix}, GetParam());
  const std::vector<PhaseTable> right = slice_all(matrix, schedule);
  int changes = 0;
  const auto expect_found = [&](auto&& change) {
    for (std::size_t rank = 0; rank < right.size(); ++rank)
      for (std::size_t i = 0; i < right[rank].entries.size(); ++i) {
        std::vector<PhaseTable> tables = right;
        change(tables[rank], tables[rank].entries[i]);
        if (tables == right) continue;
        ++changes;
        EXPECT_TRUE(check_tables(tables)) << "rank " << rank << " entry " << i;
      }
  };
  expect_found([](PhaseTable&, PhaseEntry& entry) { ++entry.phase; });
  expect_found([](PhaseTable& table, PhaseEntry& entry) { entry.phase = table.num_phases; });
  expect_found([](PhaseTable&, PhaseEntry& entry) { entry.send_offset += entry.send_partner != no_rank; });
  expect_found([](PhaseTable&, PhaseEntry& entry) { entry.recv_bytes -= entry.recv_partner != no_rank; });
  expect_found([](PhaseTable&, PhaseEntry& entry) { entry.send_partner = no_rank; });
  expect_found([](PhaseTable&, PhaseEntry& entry) { entry.recv_partner = no_rank; });
  expect_found([](PhaseTable& table, PhaseEntry& entry) {
    if (entry.recv_partner != no_rank) entry.recv_partner = table.rank;
  });
  expect_found([](PhaseTable& table, PhaseEntry& entry) {
    if (entry.send_partner != no_rank) entry.send_partner = (entry.send_partner + 1) % table.num_ranks;
  });
  expect_found([](PhaseTable& table, PhaseEntry& entry) { table.entries.push_back(PhaseEntry(entry)); });
  expect_found([](PhaseTable& table, PhaseEntry&) {
    if (!table.sources.empty()) table.sources.front().bytes += 1;
  });
  expect_found([](PhaseTable& table, PhaseEntry&) {
    if (!table.destinations.empty()) table.destinations.pop_back();
  });
  EXPECT_GT(changes, 100);
}

INSTANTIATE_TEST_SUITE_P(Schedulers, CheckPairs, testing::Values("coloring", "rs_n", "birkhoff", "lpt"));

TEST(CheckPairs, NamesPairPhaseAndBytes) {
  const Claim sent[] = {{3, 0, 100}};
  const Claim expected[] = {{4, 0, 100}};
  const auto violation = compare_claims(5, 9, sent, expected);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->text,
            "rank 5 -> rank 9: 100 bytes at offset 0 in phase 3 are sent, 100 bytes at offset 0 in phase 4 "
            "are expected");
  EXPECT_EQ(violation->src, 5);
  EXPECT_EQ(violation->dst, 9);
}

TEST(CheckPairs, RefusesTwoSendsInAPhaseOnlyWhereOnePortIsPromised) {
  PhaseTable table;
  table.num_ranks = 3;
  table.num_phases = 1;
  table.destinations = {{1, 5}, {2, 5}};
  table.entries = {{.phase = 0, .send_partner = 1, .send_bytes = 5},
                   {.phase = 0, .send_partner = 2, .send_bytes = 5}};
  EXPECT_FALSE(check_alone(table, 0));
  const auto violation = check_alone(table, one_port);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->kind, ViolationKind::two_sends);
}

}  // namespace
}  // namespace nuice
