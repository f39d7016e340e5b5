// SPDX-License-Identifier: BSD-3-Clause
// Each kind of violation once, with what the checker says of it.
#include "nuice/core/check.hpp"

#include <gtest/gtest.h>

#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

/// A schedule written down: phases of transfers of single pieces.
struct Line {
  Rank src, dst;
  Piece piece;
};
Schedule schedule_of(Rank num_ranks, const std::vector<std::vector<Line>>& phases) {
  Schedule schedule(num_ranks);
  for (const auto& phase : phases) {
    schedule.begin_phase();
    for (const Line& line : phase) schedule.add(line.src, line.dst, {&line.piece, 1});
  }
  return schedule;
}

// Messages: id 0 is 0 -> 1 (10 bytes), id 1 is 0 -> 2 (20 bytes), id 2 is 3 -> 1 (30 bytes).
class Check : public testing::Test {
 protected:
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 10}, {0, 2, 20}, {3, 1, 30}});
  const Line m01{0, 1, {0, 0, 10}};
  const Line m02{0, 2, {1, 0, 20}};
  const Line m31{3, 1, {2, 0, 30}};

  void expect(ViolationKind kind, const std::vector<std::vector<Line>>& phases, unsigned guarantees,
              const std::string& text) const {
    const auto violation = check(matrix, schedule_of(4, phases), guarantees);
    ASSERT_TRUE(violation) << "nothing was found";
    EXPECT_EQ(violation_name(violation->kind), violation_name(kind));
    EXPECT_EQ(violation->text, text);
  }
  void expect_good(const std::vector<std::vector<Line>>& phases, unsigned guarantees) const {
    const auto violation = check(matrix, schedule_of(4, phases), guarantees);
    EXPECT_FALSE(violation) << violation->text;
  }
};

TEST_F(Check, AcceptsWhatIsRight) {
  expect_good({{m01}, {m02, m31}}, direct | one_port | fewest_phases);
  expect_good({{m01, m02, m31}}, direct);
  expect_good({{{0, 1, {0, 0, 4}}, m31}, {{0, 1, {0, 4, 6}}}, {m02}}, direct);
}

TEST_F(Check, FollowsForwardedPieces) {
  // 0 -> 2 in two parts: one straight, one over rank 3.
  expect_good({{m01, m31},
               {{0, 3, {1, 0, 5}}},
               {
                   {3, 2, {1, 0, 5}},
               },
               {{0, 2, {1, 5, 15}}}},
              0);
  expect(ViolationKind::not_direct, {{m01, m31}, {{0, 3, {1, 0, 5}}}}, direct,
         "phase 1: transfer rank 0 -> rank 3: message rank 0 -> rank 2 does not go straight");
  expect(ViolationKind::not_held, {{m01, m31}, {{0, 3, {1, 0, 20}}, {3, 2, {1, 0, 20}}}}, 0,
         "phase 1: transfer rank 3 -> rank 2: message rank 0 -> rank 2: bytes [0, 20) reach rank 3 in the "
         "same phase");
  expect(ViolationKind::not_delivered, {{m01, m31}, {{0, 3, {1, 0, 20}}}, {{3, 2, {1, 0, 12}}}}, 0,
         "after the last phase: message rank 0 -> rank 2: bytes [12, 20) are still at rank 3");
}

TEST_F(Check, FindsNodeContention) {
  expect(ViolationKind::two_sends, {{m31}, {m01, m02}}, one_port,
         "phase 1: rank 0 sends to rank 1 and to rank 2");
  expect(ViolationKind::two_receives, {{m01, m31}, {m02}}, one_port,
         "phase 0: rank 1 receives from rank 0 and from rank 3");
  const Schedule contended = schedule_of(4, {{m02, m31}, {m01, m31}});
  EXPECT_FALSE(find_node_contention(contended, 0));
  ASSERT_TRUE(find_node_contention(contended, 1));
  EXPECT_EQ(find_node_contention(contended, 1)->kind, ViolationKind::two_receives);
}

TEST_F(Check, FindsLostAndDoubledBytes) {
  expect(ViolationKind::not_delivered, {{m01}, {m31}}, direct,
         "after the last phase: message rank 0 -> rank 2: bytes [0, 20) are still at rank 0");
  expect(ViolationKind::not_delivered, {{m01}, {m31, {0, 2, {1, 0, 19}}}}, direct,
         "after the last phase: message rank 0 -> rank 2: bytes [19, 20) are still at rank 0");
  expect(ViolationKind::not_held, {{m01}, {m01, m31}, {m02}}, direct,
         "phase 1: transfer rank 0 -> rank 1: message rank 0 -> rank 1: bytes [0, 10) are not at rank 0 but "
         "at rank 1");
  expect(ViolationKind::not_held, {{{0, 1, {0, 0, 6}}, m31}, {{0, 1, {0, 5, 5}}}, {m02}}, direct,
         "phase 1: transfer rank 0 -> rank 1: message rank 0 -> rank 1: bytes [5, 6) are not at rank 0 but "
         "at rank 1");
}

TEST_F(Check, FindsBadRanksAndPieces) {
  expect(ViolationKind::bad_rank, {{{0, 4, {0, 0, 10}}}}, 0,
         "phase 0: transfer rank 0 -> rank 4: ranks go from 0 to 3");
  expect(ViolationKind::bad_rank, {{{-1, 1, {0, 0, 10}}}}, 0,
         "phase 0: transfer rank -1 -> rank 1: ranks go from 0 to 3");
  expect(ViolationKind::self_transfer, {{{2, 2, {0, 0, 10}}}}, 0,
         "phase 0: rank 2 sends to itself; that needs no transfer");
  expect(ViolationKind::bad_piece, {{{0, 1, {3, 0, 10}}}}, 0,
         "phase 0: transfer rank 0 -> rank 1: the matrix has no message number 3");
  const std::string has10 =
      "phase 0: transfer rank 0 -> rank 1: message rank 0 -> rank 1 has 10 bytes, the piece is ";
  expect(ViolationKind::bad_piece, {{{0, 1, {0, 0, 11}}}}, 0, has10 + "11 bytes from 0");
  expect(ViolationKind::bad_piece, {{{0, 1, {0, -1, 5}}}}, 0, has10 + "5 bytes from -1");
  expect(ViolationKind::bad_piece, {{{0, 1, {0, 3, 0}}}}, 0, has10 + "0 bytes from 3");
  expect(ViolationKind::bad_piece, {{{0, 1, {0, 1, INT64_MAX}}}}, 0,
         has10 + "9223372036854775807 bytes from 1");
}

TEST_F(Check, ComparesPhasesWithTheMaximumDegree) {
  expect(ViolationKind::too_many_phases, {{m01}, {m02}, {m31}}, fewest_phases,
         "3 phases, more than the maximum degree 2");
}

TEST_F(Check, ComparesBytesWithTheBusiestRank) {
  // Rank 1 receives 40 bytes in all.
  const Line front{3, 1, {2, 0, 10}};
  const Line rest{3, 1, {2, 10, 20}};
  expect_good({{front}, {m02, rest}, {m01}}, one_port | fewest_bytes);
  expect_good({{m02, m31}, {m01}}, one_port | fewest_bytes);
  expect(ViolationKind::too_many_bytes, {{m31}, {m01}, {m02}}, one_port | fewest_bytes,
         "phase 2: the largest transfers of the phases add up to more than the 40 bytes that the busiest "
         "rank sends or receives");
  expect(ViolationKind::too_many_bytes, {{front}, {m02}, {rest}, {m01}}, fewest_bytes,
         "phase 2: the largest transfers of the phases add up to more than the 40 bytes that the busiest "
         "rank sends or receives");
}

// Forwarded over and over, bytes add up to more than 64 bits hold.
TEST_F(Check, SumsOfForwardedBytesDoNotOverflow) {
  const CommMatrix huge = test::matrix_of(5, {{0, 4, max_bytes}});
  const Piece all{0, 0, max_bytes};
  Schedule schedule(5);
  for (Rank rank = 0; rank < 4; ++rank) {
    schedule.begin_phase();
    schedule.add(rank, rank + 1, {&all, 1});
  }
  EXPECT_FALSE(check(huge, schedule, one_port));
  const auto violation = check(huge, schedule, one_port | fewest_bytes);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->kind, ViolationKind::too_many_bytes);
  EXPECT_EQ(violation->phase, 1U);
}

TEST_F(Check, ComparesTheNumberOfRanks) {
  const auto violation = check(matrix, Schedule(5), 0);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->kind, ViolationKind::wrong_num_ranks);
}

TEST_F(Check, ReportsTheFirstPhaseFirst) {
  // Phase 1 sends bytes twice, phase 2 has node contention, and a message is lost: the first is named.
  expect(ViolationKind::not_held, {{m01}, {m01}, {m31, {0, 1, {0, 0, 10}}}}, one_port,
         "phase 1: transfer rank 0 -> rank 1: message rank 0 -> rank 1: bytes [0, 10) are not at rank 0 but "
         "at rank 1");
}

TEST(Guarantees, HaveNames) {
  EXPECT_EQ(guarantee_names(direct | fewest_phases), "direct fewest_phases");
  EXPECT_EQ(guarantee_names(0), "");
  EXPECT_EQ(find_guarantee("one_port"), one_port);
  EXPECT_ERROR(find_guarantee("two_port"), ErrorCode::invalid_argument,
               {"unknown guarantee \"two_port\"; known: direct, one_port"});
}

}  // namespace
}  // namespace nuice
