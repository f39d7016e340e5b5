// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/comm_matrix.hpp"

#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using test::matrix_of;

std::vector<MessageId> sent(const CommMatrix& matrix, Rank rank) {
  const auto ids = matrix.sent_by(rank);
  return {ids.begin(), ids.end()};
}
std::vector<MessageId> received(const CommMatrix& matrix, Rank rank) {
  const auto ids = matrix.received_by(rank);
  return {ids.begin(), ids.end()};
}

TEST(CommMatrix, SortsByPairAndIndexesBothWays) {
  const CommMatrix matrix = matrix_of(4, {{3, 0, 30}, {1, 3, 13}, {0, 3, 3}, {1, 0, 10}});
  ASSERT_EQ(matrix.num_messages(), 4U);
  EXPECT_EQ(matrix.message(0), (Message{0, 3, 3}));
  EXPECT_EQ(matrix.message(1), (Message{1, 0, 10}));
  EXPECT_EQ(matrix.message(2), (Message{1, 3, 13}));
  EXPECT_EQ(matrix.message(3), (Message{3, 0, 30}));
  EXPECT_EQ(sent(matrix, 1), (std::vector<MessageId>{1, 2}));
  EXPECT_EQ(sent(matrix, 2), (std::vector<MessageId>{}));
  EXPECT_EQ(received(matrix, 3), (std::vector<MessageId>{0, 2}));
  EXPECT_EQ(received(matrix, 0), (std::vector<MessageId>{1, 3}));
  EXPECT_EQ(received(matrix, 1), (std::vector<MessageId>{}));
}

TEST(CommMatrix, FindsMessages) {
  const CommMatrix matrix = test::table1_of_004();
  EXPECT_EQ(matrix.message(*matrix.find(4, 6)), (Message{4, 6, 1}));
  EXPECT_FALSE(matrix.find(0, 3));
  EXPECT_FALSE(matrix.find(-1, 3));
  EXPECT_FALSE(matrix.find(8, 3));
}

TEST(CommMatrix, DropsZeroBytesAndKeepsSelfApart) {
  const CommMatrix matrix = matrix_of(3, {{0, 0, 7}, {0, 1, 0}, {1, 2, 5}, {2, 2, 0}});
  EXPECT_EQ(matrix.num_messages(), 1U);
  EXPECT_EQ(matrix.self_bytes(0), 7);
  EXPECT_EQ(matrix.self_bytes(1), 0);
  EXPECT_EQ(matrix.self_bytes(2), 0);
}

TEST(CommMatrix, EntriesGiveTheSameMatrixAgain) {
  for (const auto& [name, matrix] : test::all_matrices()) {
    const std::vector<Message> entries = matrix.entries();
    const CommMatrix again = CommMatrix::from_messages(matrix.num_ranks(), entries);
    EXPECT_EQ(again, matrix) << name;
    EXPECT_EQ(again.fingerprint(), matrix.fingerprint()) << name;
  }
}

TEST(CommMatrix, FingerprintTellsMatricesApart) {
  const CommMatrix a = matrix_of(3, {{0, 1, 5}});
  EXPECT_NE(a.fingerprint(), matrix_of(3, {{0, 1, 6}}).fingerprint());
  EXPECT_NE(a.fingerprint(), matrix_of(3, {{1, 0, 5}}).fingerprint());
  EXPECT_NE(a.fingerprint(), matrix_of(4, {{0, 1, 5}}).fingerprint());
  EXPECT_NE(a.fingerprint(), matrix_of(3, {{0, 1, 5}, {2, 2, 1}}).fingerprint());
  EXPECT_EQ(a.fingerprint(), 0x0ea9911181d7b4b0U)
      << std::hex << a.fingerprint();  // the same on every platform
}

TEST(CommMatrix, RefusesBadEntriesByName) {
  EXPECT_ERROR(matrix_of(3, {{0, 3, 5}}), ErrorCode::invalid_argument, {"rank 0 -> rank 3", "0 to 2"});
  EXPECT_ERROR(matrix_of(3, {{-1, 2, 5}}), ErrorCode::invalid_argument, {"rank -1 -> rank 2"});
  EXPECT_ERROR(matrix_of(3, {{1, 2, -8}}), ErrorCode::invalid_argument,
               {"rank 1 -> rank 2", "negative size -8"});
  EXPECT_ERROR(matrix_of(3, {{1, 2, max_bytes + 1}}), ErrorCode::limit, {"rank 1 -> rank 2", "2^62"});
  EXPECT_ERROR(matrix_of(3, {{1, 2, 4}, {0, 1, 1}, {1, 2, 4}}), ErrorCode::invalid_argument,
               {"rank 1 -> rank 2", "twice"});
  EXPECT_ERROR(matrix_of(-1, {}), ErrorCode::invalid_argument, {"-1"});
}

/// One message among 2^30 ranks took 20 GiB.
TEST(CommMatrix, RanksWithoutMessagesAreNotWithoutLimit) {
  EXPECT_ERROR(matrix_of(1 << 30, {{0, 1, 5}}), ErrorCode::limit, {"1073741824 ranks, more than 16777216"});
  EXPECT_ERROR(matrix_of(max_ranks + 1, {}), ErrorCode::limit, {"16777217 ranks"});
}

TEST(CommMatrix, RefusesSumsThatCouldOverflow) {
  EXPECT_ERROR(matrix_of(3, {{1, 0, max_bytes}, {1, 2, 1}}), ErrorCode::limit, {"rank 1 sends"});
  EXPECT_ERROR(matrix_of(3, {{1, 0, max_bytes}, {2, 0, 1}}), ErrorCode::limit, {"rank 0 receives"});
  EXPECT_ERROR(matrix_of(4, {{0, 1, max_bytes}, {2, 3, 1}}), ErrorCode::limit, {"the messages have"});
}

}  // namespace
}  // namespace nuice
