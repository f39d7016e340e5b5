// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/phase_table.hpp"

#include "nuice/plan/scheduler.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(PhaseTable, HoldsThePapersFields) {
  // LP on four ranks: 0<->1 and 2<->3 meet in phase 0, 0<->2 in phase 1, 0<->3 in phase 2.
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 10}, {1, 0, 11}, {0, 3, 30}, {2, 0, 20}, {0, 0, 5}});
  const PhaseTable table = slice(matrix, make_schedule(matrix, "lp"), 0);
  EXPECT_EQ(table.rank, 0);
  EXPECT_EQ(table.num_ranks, 4);
  EXPECT_EQ(table.num_phases, 3U);
  EXPECT_EQ(table.destinations, (std::vector<Partner>{{0, 5}, {1, 10}, {3, 30}}));
  EXPECT_EQ(table.sources, (std::vector<Partner>{{0, 5}, {1, 11}, {2, 20}}));
  const std::vector<PhaseEntry> expected = {{.phase = 0,
                                             .send_partner = 1,
                                             .send_bytes = 10,
                                             .send_offset = 0,
                                             .recv_partner = 1,
                                             .recv_bytes = 11,
                                             .recv_offset = 0},
                                            {.phase = 1,
                                             .send_partner = no_rank,
                                             .send_bytes = 0,
                                             .send_offset = 0,
                                             .recv_partner = 2,
                                             .recv_bytes = 20,
                                             .recv_offset = 0},
                                            {.phase = 2,
                                             .send_partner = 3,
                                             .send_bytes = 30,
                                             .send_offset = 0,
                                             .recv_partner = no_rank,
                                             .recv_bytes = 0,
                                             .recv_offset = 0}};
  EXPECT_EQ(table.entries, expected);
}

TEST(PhaseTable, IdlePhasesHaveNoEntry) {
  const CommMatrix matrix = test::matrix_of(8, {{0, 7, 1}, {0, 1, 1}, {5, 7, 1}});
  const PhaseTable table = slice(matrix, make_schedule(matrix, "lp"), 5);
  ASSERT_EQ(table.entries.size(), 1U);
  EXPECT_EQ(table.num_phases, 3U);
}

TEST(PhaseTable, SplitMessagesHaveOffsets) {
  const CommMatrix matrix = test::matrix_of(2, {{0, 1, 10}});
  Schedule schedule(2);
  const Piece first{0, 0, 4};
  const Piece second{0, 4, 6};
  schedule.add(0, 1, {&first, 1});
  schedule.begin_phase();
  schedule.add(0, 1, {&second, 1});
  const PhaseTable receiver = slice(matrix, schedule, 1);
  ASSERT_EQ(receiver.entries.size(), 2U);
  EXPECT_EQ(receiver.entries[1].recv_offset, 4);
  EXPECT_EQ(receiver.entries[1].recv_bytes, 6);
}

TEST(PhaseTable, OneAsynchronousPhaseHasManyEntries) {
  const CommMatrix matrix = test::all_to_one(5, 2);
  const PhaseTable table = slice(matrix, make_schedule(matrix, "ac"), 2);
  ASSERT_EQ(table.entries.size(), 4U);
  for (const PhaseEntry& entry : table.entries) EXPECT_EQ(entry.phase, 0U);
}

/// Rank 1 gets 8 bytes for rank 2 together with 4 of its own, and sends the 8 on in two phases.
Schedule forwarding_schedule(const CommMatrix& matrix) {
  const MessageId own = matrix.find(0, 1).value();
  const MessageId other = matrix.find(0, 2).value();
  Schedule schedule(3);
  schedule.add(0, 1, std::vector<Piece>{{other, 0, 8}, {own, 0, 4}});
  schedule.begin_phase();
  schedule.add(1, 2, std::vector<Piece>{{other, 0, 5}});
  schedule.begin_phase();
  schedule.add(1, 2, std::vector<Piece>{{other, 5, 3}});
  return schedule;
}

TEST(PhaseTable, ForwardedMessagesAreParts) {
  const CommMatrix matrix = test::matrix_of(3, {{0, 2, 8}, {0, 1, 4}});
  const auto tables = slice_all(matrix, forwarding_schedule(matrix));
  const PhaseTable& source = tables[0];
  ASSERT_EQ(source.entries.size(), 1U);
  EXPECT_EQ(source.entries[0].send_bytes, 12);
  EXPECT_EQ(source.parts, (std::vector<Part>{{0, 2, 0, 8}, {0, 1, 0, 4}}));
  EXPECT_EQ(staged_bytes(source), 0);

  const PhaseTable& between = tables[1];
  ASSERT_EQ(between.entries.size(), 3U);
  EXPECT_EQ(between.entries[0].recv_parts, (PartRange{0, 2}));
  EXPECT_EQ(between.entries[0].send_partner, no_rank);
  EXPECT_EQ(between.entries[1].send_parts, (PartRange{2, 1}));
  EXPECT_EQ(between.parts_in(between.entries[2].send_parts)[0], (Part{0, 2, 5, 3}));
  EXPECT_EQ(between.sources, (std::vector<Partner>{{0, 4}}));
  EXPECT_TRUE(between.destinations.empty());
  EXPECT_EQ(staged_bytes(between), 8);

  const PhaseTable& destination = tables[2];
  EXPECT_EQ(destination.sources, (std::vector<Partner>{{0, 8}}));
  EXPECT_EQ(destination.entries[1].recv_partner, 1);
  EXPECT_EQ(destination.entries[1].recv_parts, (PartRange{1, 1}));
  EXPECT_EQ(staged_bytes(destination), 0);
}

TEST(PhaseTable, RefusesWaysBackToTheSourceAndOnFromTheDestination) {
  const CommMatrix matrix = test::matrix_of(3, {{0, 2, 8}});
  const Piece whole{0, 0, 8};
  const auto along = [&](const std::vector<Rank>& way) {
    Schedule schedule(3);
    for (std::size_t hop = 0; hop + 1 < way.size(); ++hop) {
      schedule.begin_phase();
      schedule.add(way[hop], way[hop + 1], {&whole, 1});
    }
    EXPECT_FALSE(check(matrix, schedule, 0));  // right, and still no scheduler makes such a schedule
    return schedule;
  };
  EXPECT_ERROR(slice(matrix, along({0, 1, 0, 2}), 2), ErrorCode::not_applicable,
               {"phase 1, rank 1 -> rank 0", "rank 0 -> rank 2 is sent back to its source"});
  EXPECT_ERROR(slice_all(matrix, along({0, 2, 1, 2})), ErrorCode::not_applicable,
               {"phase 1, rank 2 -> rank 1", "is forwarded from its destination"});
}

}  // namespace
}  // namespace nuice
