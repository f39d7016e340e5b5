// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/matrices.hpp"
#include "support/sizes.hpp"

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

/// The least phase_bytes of all schedules of whole messages, found by trying them all: message `id` joins any
/// phase with both ports free, or opens a new one.
class FewestWholeMessageBytes {
 public:
  explicit FewestWholeMessageBytes(const CommMatrix& matrix) : matrix_(matrix) { try_from(0, 0); }
  Bytes result() const { return best_; }

 private:
  struct Phase {
    std::set<Rank> senders;
    std::set<Rank> receivers;
    Bytes largest = 0;
  };

  void try_from(MessageId id, Bytes sum) {
    if (sum >= best_) return;
    if (id == matrix_.num_messages()) {
      best_ = sum;
      return;
    }
    const auto [src, dst, bytes] = matrix_.message(id);
    phases_.emplace_back();
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const Phase before = phases_[i];
      if (before.senders.contains(src) || before.receivers.contains(dst)) continue;
      phases_[i].senders.insert(src);
      phases_[i].receivers.insert(dst);
      phases_[i].largest = std::max(before.largest, bytes);
      try_from(id + 1, sum + phases_[i].largest - before.largest);
      phases_[i] = before;
    }
    phases_.pop_back();
  }

  const CommMatrix& matrix_;
  std::vector<Phase> phases_;
  Bytes best_ = max_bytes;
};

TEST(WholeMessageBytes, IsABoundAndOftenReached) {
  int reached = 0;
  constexpr int samples = 300;
  for (std::uint64_t seed = 0; seed < samples; ++seed) {
    const Rank num_ranks = seed % 2 == 0 ? 3 : 4;
    const CommMatrix pattern = random_density(num_ranks, 0.7, {}, seed);
    const CommMatrix matrix = test::with_uniform_sizes(pattern, seed % 3 == 0 ? 4 : 100, seed);
    const Bytes fewest = FewestWholeMessageBytes(matrix).result();
    ASSERT_LE(whole_message_bytes(matrix), fewest) << seed;
    ASSERT_GE(whole_message_bytes(matrix), lower_bounds(matrix).max_port_bytes) << seed;
    if (whole_message_bytes(matrix) == fewest) ++reached;
  }
  EXPECT_GT(reached, samples / 2);
  EXPECT_LT(reached, samples) << "these samples cannot tell the bound from the optimum";
}

TEST(WholeMessageBytes, OfExamples) {
  EXPECT_EQ(whole_message_bytes(CommMatrix()), 0);
  EXPECT_EQ(whole_message_bytes(test::matrix_of(3, {{0, 2, max_bytes}})), max_bytes);
  EXPECT_EQ(whole_message_bytes(test::table1_of_004(100)), 500);
  // Largest 9 (rank 0 sends), second largest 8 (rank 3 receives), third 1 (rank 0 sends).
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 9}, {0, 2, 1}, {0, 3, 1}, {1, 3, 8}, {2, 3, 8}});
  EXPECT_EQ(whole_message_bytes(matrix), 9 + 8 + 1);
  EXPECT_EQ(lower_bounds(matrix).max_port_bytes, 17);
}

}  // namespace
}  // namespace nuice
