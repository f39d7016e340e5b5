// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/bounds.hpp"

#include <gtest/gtest.h>

#include "support/matrices.hpp"

namespace nuice {
namespace {

TEST(Bounds, NameTheBusiestRanks) {
  // Rank 1 sends three messages; rank 0 receives the most bytes.
  const CommMatrix matrix =
      test::matrix_of(4, {{1, 0, 10}, {1, 2, 10}, {1, 3, 10}, {2, 0, 100}, {3, 3, 9999}});
  const Bounds bounds = lower_bounds(matrix);
  EXPECT_EQ(bounds.max_degree, 3U);
  EXPECT_EQ(bounds.max_degree_at.rank, 1);
  EXPECT_EQ(bounds.max_degree_at.direction, Direction::send);
  EXPECT_EQ(bounds.max_port_bytes, 110);
  EXPECT_EQ(bounds.max_port_bytes_at.rank, 0);
  EXPECT_EQ(bounds.max_port_bytes_at.direction, Direction::receive);
  EXPECT_EQ(bounds.total_bytes, 130) << "a message to itself needs no port";
}

TEST(Bounds, OfNothingAreZero) {
  for (const CommMatrix& matrix : {CommMatrix(), test::matrix_of(2, {{1, 1, 4}})}) {
    const Bounds bounds = lower_bounds(matrix);
    EXPECT_EQ(bounds.max_degree, 0U);
    EXPECT_EQ(bounds.max_port_bytes, 0);
    EXPECT_EQ(bounds.max_degree_at.rank, no_rank);
  }
}

TEST(Bounds, Of004Table1) {
  const Bounds bounds = lower_bounds(test::table1_of_004());
  EXPECT_EQ(bounds.max_degree, 5U);  // the text: P4 sends five messages; P2 is sent five
  EXPECT_EQ(bounds.total_bytes, 32);
}

}  // namespace
}  // namespace nuice
