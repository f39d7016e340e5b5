// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/schedule.hpp"

#include <gtest/gtest.h>

#include "support/matrices.hpp"

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

}  // namespace
}  // namespace nuice
