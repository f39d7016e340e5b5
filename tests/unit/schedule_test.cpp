// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/schedule.hpp"

#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(Schedule, HoldsPhasesTransfersAndPieces) {
  Schedule schedule(3);
  const Piece pieces[] = {{0, 0, 10}, {1, 5, 7}};
  schedule.add(0, 1, pieces);
  schedule.begin_phase();
  schedule.add(1, 2, {pieces, 1});
  schedule.add(2, 0, {pieces + 1, 1});
  ASSERT_EQ(schedule.num_phases(), 2U);
  ASSERT_EQ(schedule.num_transfers(), 3U);
  ASSERT_EQ(schedule.transfers(0).size(), 1U);
  EXPECT_EQ(schedule.transfers(0)[0].pieces.size(), 2U);
  EXPECT_EQ(schedule.transfers(0)[0].bytes(), 17);
  ASSERT_EQ(schedule.transfers(1).size(), 2U);
  EXPECT_EQ(schedule.transfers(1)[1].src, 2);
  EXPECT_EQ(schedule.transfers(1)[1].pieces[0], pieces[1]);
  EXPECT_EQ(phase_bytes(schedule), 17 + 10);
}

TEST(Schedule, NeverHasAnEmptyPhase) {
  const Piece piece{0, 0, 1};
  Schedule a(2);
  a.begin_phase();
  a.begin_phase();
  EXPECT_EQ(a.num_phases(), 0U);
  a.add(0, 1, {&piece, 1});
  a.begin_phase();
  a.begin_phase();
  EXPECT_EQ(a.num_phases(), 1U);
  Schedule b(2);
  b.add(0, 1, {&piece, 1});
  EXPECT_EQ(a, b) << "a phase that was begun and not used makes no difference";
  a.add(1, 0, {&piece, 1});
  EXPECT_EQ(a.num_phases(), 2U);
  EXPECT_NE(a, b);
  b.add(1, 0, {&piece, 1});
  EXPECT_NE(a, b) << "the same transfers in one phase";
}

TEST(Schedule, KeepsWholeAndSplitPiecesInAnyOrder) {
  // Whole, then several, then with an offset, then whole again: what is left out at first is filled in later.
  const std::vector<std::vector<Piece>> transfers = {
      {{0, 0, 10}}, {{1, 0, 4}, {2, 0, 6}}, {{1, 4, 3}}, {{3, 0, 9}}, {{2, 6, 1}, {4, 0, 2}, {5, 8, 1}}};
  Schedule schedule(2);
  for (const auto& pieces : transfers) schedule.add(0, 1, pieces);
  ASSERT_EQ(schedule.num_transfers(), transfers.size());
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Pieces pieces = schedule.transfer(i).pieces;
    EXPECT_EQ(std::vector<Piece>(pieces.begin(), pieces.end()), transfers[i]) << i;
  }
  EXPECT_ERROR(schedule.add(1, 0, {}), ErrorCode::invalid_argument, {"rank 1 to rank 0", "without pieces"});
}

TEST(Schedule, OfWholeMessagesIsTheSameAsAddingThem) {
  const CommMatrix matrix = test::table1_of_004(3);
  std::vector<PhaseId> phase_of(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    phase_of[id] = id * 7 % 5 + (id * 7 % 5 > 2 ? 2 : 0);
  Schedule expected(8);
  for (PhaseId phase = 0; phase < 9; ++phase) {
    expected.begin_phase();
    for (MessageId id = 0; id < matrix.num_messages(); ++id) {
      if (phase_of[id] == phase) expected.add_whole(matrix, id);
    }
  }
  EXPECT_EQ(expected.num_phases(), 5U) << "phases 3, 4, 7 and 8 are empty";
  EXPECT_EQ(Schedule::of_whole_messages(matrix, phase_of, 9), expected);
}

}  // namespace
}  // namespace nuice
