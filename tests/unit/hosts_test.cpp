// SPDX-License-Identifier: BSD-3-Clause
// Several ranks on a host: how hosts are written, and what they have for each other.
#include <gtest/gtest.h>

#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

TEST(Hosts, AreWrittenAsANumberOrRankByRank) {
  const Hosts blocks = parse_hosts("3", 7);
  EXPECT_EQ(blocks.num_hosts(), 3);
  EXPECT_EQ(blocks.host_of(5), 1);
  EXPECT_TRUE(blocks.any_shared());
  const Hosts named = parse_hosts("7,2,7,0", 4);  // numbered again, by lowest rank
  EXPECT_EQ(named.num_hosts(), 3);
  EXPECT_EQ(named.host_of(2), 0);
  EXPECT_EQ(named.host_of(1), 1);
  EXPECT_FALSE(parse_hosts("1", 4).any_shared());
  EXPECT_EQ(parse_hosts("99", 4).num_hosts(), 1);
  EXPECT_EQ(named.ranks_beside(2), (std::vector<Rank>{0, 2}));
  EXPECT_EQ(named.ranks_beside(3), (std::vector<Rank>{3}));
}

TEST(Hosts, ThatAreNoneAreErrors) {
  for (const char* text : {"", "0", "-1", "2x", "0,1,", "0,,1,1", " 2", "99999999999"})
    EXPECT_ERROR(parse_hosts(text, 4), ErrorCode::invalid_argument, {"hosts \"" + std::string(text) + "\""});
  EXPECT_ERROR(parse_hosts("0,0,1", 4), ErrorCode::invalid_argument, {"3 hosts for 4 ranks"});
}

TEST(Hosts, HaveAMatrixWithoutWhatStaysInside) {
  const CommMatrix matrix = test::matrix_of(4, {{0, 1, 5}, {0, 2, 7}, {1, 3, 11}, {3, 0, 2}, {2, 2, 9}});
  EXPECT_EQ(host_matrix(matrix, parse_hosts("2", 4)), test::matrix_of(2, {{0, 1, 18}, {1, 0, 2}}));
}

}  // namespace
}  // namespace nuice
