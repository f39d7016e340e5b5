// SPDX-License-Identifier: BSD-3-Clause
// The serial executor of broadcasts: a rank that receives has the root's bytes, and no wrong slice gets past it.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "nuice/nuice.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

constexpr Bytes num_bytes = 5;
using Buffers = std::vector<std::vector<unsigned char>>;

std::vector<BroadcastTable> tables_of(const BroadcastSchedule& schedule) {
  std::vector<BroadcastTable> tables;
  for (Rank rank = 0; rank < schedule.num_ranks; ++rank) tables.push_back(slice(schedule, rank));
  return tables;
}

/// Rank r's buffer is full of the number r before.
Buffers broadcast(const std::vector<BroadcastTable>& tables, Bytes room = num_bytes) {
  Buffers buffers;
  std::vector<ReceiveBuffer> views;
  for (std::size_t r = 0; r < tables.size(); ++r)
    buffers.emplace_back(static_cast<std::size_t>(num_bytes), static_cast<unsigned char>(r));
  for (auto& buffer : buffers) views.push_back({buffer.data(), room});
  broadcast_serially(tables, views, num_bytes);
  return buffers;
}

TEST(SerialBroadcast, GivesTheGroupTheRootsBytes) {
  const std::vector<Rank> group = {1, 4, 5, 6, 9};
  for (const Broadcaster& row : broadcasters())
    for (Rank root = 0; root < 10; ++root) {
      const auto buffers = broadcast(tables_of(make_broadcast(row.name, 10, root, group)));
      for (Rank rank = 0; rank < 10; ++rank) {
        const bool is_member = std::ranges::find(group, rank) != group.end();
        const auto& buffer = buffers[static_cast<std::size_t>(rank)];
        EXPECT_EQ(buffer, std::vector(buffer.size(), static_cast<unsigned char>(is_member ? root : rank)));
      }
    }
}

TEST(SerialBroadcast, SlicesTellWhomToHearAndWhomToTell) {
  const BroadcastSchedule schedule = make_broadcast("reb", 8, 0);  // 001 fig. 9
  const BroadcastTable four = slice(schedule, 4);
  EXPECT_EQ(four.receive, (BroadcastStep{0, 0}));
  EXPECT_EQ(four.sends, (std::vector<BroadcastStep>{{1, 6}, {2, 5}}));
  EXPECT_EQ(slice(schedule, 0).receive, std::nullopt);
  EXPECT_EQ(slice(schedule, 0).sends.size(), 3U);
  EXPECT_FALSE(slice(make_broadcast("lib", 3, 0, std::vector<Rank>{1}), 2).takes_part());
}

TEST(SerialBroadcast, NamesTheFirstFault) {
  struct Wrong {
    std::function<void(std::vector<BroadcastTable>&)> spoil;
    std::string text;
  };
  const std::vector<Wrong> cases = {
      {[](auto& t) { t[4].receive.reset(); }, "step 0, rank 0 -> rank 4: a send without its receive"},
      {[](auto& t) { t[6].receive = {2, 4}; }, "step 1, rank 4 -> rank 6: a send without its receive"},
      {[](auto& t) { t[4].sends[0].partner = 99; }, "step 1, rank 4 -> rank 99: a send without its receive"},
      {[](auto& t) { t[4].sends.pop_back(); }, "step 2, rank 4 -> rank 5: a receive without its send"},
      {[](auto& t) {
         t[4].sends[0].step = 0;
         t[6].receive = {0, 4};
       },
       "step 0, rank 4 -> rank 6: the sender does not have the message"},
      {[](auto& t) { t[3].root = 1; }, "table 3 does not belong to the others"},
      {[](auto& t) { std::swap(t[1], t[2]); }, "table 1 does not belong to the others"}};
  for (const auto& [spoil, text] : cases) {
    auto tables = tables_of(make_broadcast("reb", 8, 0));
    spoil(tables);
    EXPECT_ERROR(broadcast(tables), ErrorCode::mismatch, {text});
  }
  const auto tables = tables_of(make_broadcast("reb", 2, 0));
  EXPECT_ERROR(broadcast(tables, 4), ErrorCode::invalid_argument, {"rank 0: the buffer has 4 bytes"});
  EXPECT_ERROR(broadcast_serially(tables, {}, 1), ErrorCode::invalid_argument, {"2 tables, but 0 buffers"});
  const std::vector<ReceiveBuffer> none(2);
  EXPECT_ERROR(broadcast_serially(tables, none, 1), ErrorCode::invalid_argument,
               {"rank 0: the buffer is null"});
  EXPECT_ERROR(broadcast_serially(tables, none, -1), ErrorCode::invalid_argument, {"negative: -1"});
  EXPECT_NO_THROW(broadcast_serially(tables, none, 0));
}

}  // namespace
}  // namespace nuice
