// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts: what every algorithm of the table keeps, what is special to each, and what the checker finds.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "nuice/nuice.hpp"
#include "support/golden.hpp"
#include "support/step_table.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

std::vector<Rank> ranks_below(Rank n) {
  std::vector<Rank> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

class BroadcastLaw : public testing::TestWithParam<std::string_view> {};

TEST_P(BroadcastLaw, ReachesAllFromEveryRoot) {
  for (Rank n = 1; n <= 33; ++n) {
    for (Rank root = 0; root < n; ++root) {
      const BroadcastSchedule schedule = make_broadcast(GetParam(), n, root);
      EXPECT_EQ(schedule.root, root);
      const auto fault = check_broadcast(schedule, ranks_below(n));
      ASSERT_FALSE(fault) << n << " ranks, root " << root << ": " << *fault;
    }
  }
}

TEST_P(BroadcastLaw, ReachesASelectedGroupAndNobodyElse) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const auto n = static_cast<Rank>(1 + random.below(40));
    std::vector<Rank> group = ranks_below(n);
    random.shuffle(std::span(group));
    group.resize(random.below(group.size() + 1));
    const auto root = static_cast<Rank>(random.below(static_cast<std::uint64_t>(n)));
    const BroadcastSchedule schedule = make_broadcast(GetParam(), n, root, group);
    const auto fault = check_broadcast(schedule, group);
    ASSERT_FALSE(fault) << n << " ranks, root " << root << ": " << *fault;
    std::set<Rank> expected(group.begin(), group.end());
    expected.erase(root);
    std::size_t num_copies = 0;
    for (const std::vector<Copy>& step : schedule.steps) num_copies += step.size();
    EXPECT_EQ(num_copies, expected.size());
  }
}

std::vector<std::string_view> broadcaster_names() {
  std::vector<std::string_view> names;
  for (const Broadcaster& row : broadcasters()) names.push_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, BroadcastLaw, testing::ValuesIn(broadcaster_names()),
                         [](const auto& row) { return std::string(row.param); });

TEST(Broadcast, LinearTakesAStepForEachReceiver) {
  for (const Rank n : {1, 2, 7, 8})
    EXPECT_EQ(make_broadcast("lib", n, 0).steps.size(), ranks_below(n).size() - 1);
}

TEST(Broadcast, RecursiveTakesLogarithmicallyManySteps) {
  for (const auto& [n, steps] : {std::pair{1, 0U}, std::pair{2, 1U}, std::pair{5, 3U}, std::pair{8, 3U},
                                 std::pair{9, 4U}, std::pair{256, 8U}}) {
    EXPECT_EQ(make_broadcast("reb", n, n - 1).steps.size(), steps) << n;
  }
  const std::vector<Rank> column = {3, 7, 11, 15};  // of a 4 x 4 mesh
  EXPECT_EQ(make_broadcast("reb", 16, 7, column).steps.size(), 2U);
}

// 001 s.3.6: "In the first step, it sends the message to processor N/2, in the second step processor 0 sends
// the message to processor N/4 and processor N/2 sends the message to processor 3N/2" (3N/4 by fig. 9), "and
// so on".
TEST(Broadcast, RecursiveTo8RanksIsThatOfFigure9) {
  std::vector<std::vector<std::string>> columns;
  for (const std::vector<Copy>& step : make_broadcast("reb", 8, 0).steps) {
    std::vector<std::string>& texts = columns.emplace_back();
    for (const auto& [src, dst] : step) texts.push_back(std::to_string(src) + " -> " + std::to_string(dst));
  }
  test::compare_with_golden("001_fig9.reb.steps", test::step_table(columns));
}

TEST(Broadcast, WrongArgumentsAreNamed) {
  const auto invalid = ErrorCode::invalid_argument;
  EXPECT_ERROR(make_broadcast("tree", 4, 0), invalid, {"\"tree\"", "lib, reb"});
  EXPECT_ERROR(make_broadcast("reb", 4, 4), invalid, {"root is rank 4", "4 ranks"});
  EXPECT_ERROR(make_broadcast("reb", 0, 0), invalid, {"root is rank 0"});
  const std::vector<Rank> outside = {1, -1};
  EXPECT_ERROR(make_broadcast("lib", 4, 0, outside), invalid, {"member is rank -1"});
  const std::vector<Rank> twice = {2, 1, 2};
  EXPECT_ERROR(make_broadcast("lib", 4, 0, twice), invalid, {"rank 2 is twice"});
}

struct Wrong {
  BroadcastSchedule schedule;
  const char* text;
};

TEST(Broadcast, CheckerNamesTheFirstFault) {
  const std::vector<Rank> group = {1, 2, 3};
  ASSERT_FALSE(check_broadcast({5, 0, {{{0, 2}}, {{0, 1}, {2, 3}}}}, group));
  const std::vector<Wrong> cases = {
      {{5, 5, {}}, "the root is rank 5 of 5"},
      {{3, 0, {}}, "the group has the rank 3"},
      {{5, 0, {{{0, 2}}, {{0, 1}}}}, "rank 3 does not get the message"},
      {{5, 0, {{{0, 2}, {2, 3}}, {{0, 1}}}},
       "step 0, rank 2 -> rank 3: the sender gets the message in the same step"},
      {{5, 0, {{{1, 2}}}}, "step 0, rank 1 -> rank 2: the sender does not have the message"},
      {{5, 0, {{{0, 2}, {0, 1}}}}, "step 0, rank 0 -> rank 1: the sender sends twice"},
      {{5, 0, {{{0, 2}}, {{0, 1}, {2, 1}}}},
       "step 1, rank 2 -> rank 1: the receiver has the message already"},
      {{5, 0, {{{0, 0}}}}, "step 0, rank 0 -> rank 0: the receiver has the message already"},
      {{5, 0, {{{0, 4}}}}, "step 0, rank 0 -> rank 4: the receiver is not in the group"},
      {{5, 0, {{{0, 7}}}}, "step 0, rank 0 -> rank 7: ranks go from 0 to 4"},
      {{5, 0, {{}}}, "step 0 is empty"},
  };
  for (const auto& [schedule, text] : cases) {
    const auto fault = check_broadcast(schedule, group);
    ASSERT_TRUE(fault) << text;
    EXPECT_NE(fault->find(text), std::string::npos) << *fault;
  }
}

TEST(Broadcast, SlicesTellWhomToHearAndWhomToTell) {
  const BroadcastSchedule schedule = make_broadcast("reb", 8, 0);  // 001 fig. 9
  const BroadcastTable four = slice(schedule, 4);
  EXPECT_EQ(four.receive, (BroadcastStep{0, 0}));
  EXPECT_EQ(four.sends, (std::vector<BroadcastStep>{{1, 6}, {2, 5}}));
  EXPECT_EQ(slice(schedule, 0).receive, std::nullopt);
  EXPECT_EQ(slice(schedule, 0).sends.size(), 3U);
  EXPECT_FALSE(slice(make_broadcast("lib", 3, 0, std::vector<Rank>{1}), 2).takes_part());
}

}  // namespace
}  // namespace nuice
