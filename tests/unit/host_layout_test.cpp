// SPDX-License-Identifier: BSD-3-Clause
// Where combined messages lie in the memory of their hosts: the two hosts
// of a block agree, and nothing overlaps.
#include <gtest/gtest.h>

#include <algorithm>

#include "exchange/host_layout.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

/// Those of a matrix that begin or end on the host of `rank`.
std::vector<exchange::HostMessage> messages_at(const CommMatrix& matrix, const Hosts& hosts, Rank rank) {
  std::vector<exchange::HostMessage> messages;
  for (MessageId id = matrix.num_messages(); id-- > 0;)
    if (const auto [src, dst, bytes] = matrix.message(id); hosts.same(src, rank) || hosts.same(dst, rank))
      messages.push_back({src, dst, bytes});
  return messages;
}

const exchange::HostLayout::Place& place_of(std::span<const exchange::HostLayout::Place> places,
                                            Rank partner) {
  return *std::ranges::find(places, partner, &exchange::HostLayout::Place::partner);
}

TEST(HostLayout, BothHostsOfABlockAgreeOnIt) {
  for (const char* text : {"3", "0,1,0,2,1,0,2,2", "1", "8"}) {
    const Hosts hosts = parse_hosts(text, 8);
    const CommMatrix matrix = random_regular(8, 5, {.unit_bytes = 7, .max_units = 9}, 3);
    std::vector<exchange::HostLayout> layouts;
    for (Rank r = 0; r < 8; ++r) layouts.emplace_back(hosts, r, messages_at(matrix, hosts, r));
    for (MessageId id = 0; id < matrix.num_messages(); ++id) {
      const auto [src, dst, bytes] = matrix.message(id);
      SCOPED_TRACE(std::string(text) + ": " + std::to_string(src) + " -> " + std::to_string(dst));
      const auto& out = layouts[static_cast<std::size_t>(src)];
      const auto& in = layouts[static_cast<std::size_t>(dst)];
      const auto& from = place_of(out.sends(), dst);
      const auto& to = place_of(in.receives(), src);
      EXPECT_EQ(from.bytes, bytes);
      EXPECT_EQ(to.bytes, bytes);
      if (hosts.same(src, dst)) {
        EXPECT_EQ(from.begin, to.begin);
        EXPECT_EQ(from.block, no_index);
        continue;
      }
      const auto& sent = out.outgoing()[from.block];
      const auto& received = in.incoming()[to.block];
      EXPECT_EQ(sent.host, hosts.host_of(dst));
      EXPECT_EQ(received.host, hosts.host_of(src));
      EXPECT_EQ(sent.bytes, received.bytes);
      EXPECT_EQ(from.begin - sent.begin, to.begin - received.begin);
      EXPECT_TRUE(std::ranges::binary_search(sent.ranks, src));
      EXPECT_TRUE(std::ranges::binary_search(received.ranks, dst));
    }
  }
}

TEST(HostLayout, GivesEveryMessageBytesOfItsOwn) {
  const Hosts hosts = parse_hosts("4", 12);
  const CommMatrix matrix = random_regular(12, 11, {.unit_bytes = 3, .max_units = 5}, 1);
  std::vector<char> is_taken;
  Bytes sum = 0;
  for (Rank r = 4; r < 8; ++r) {
    const exchange::HostLayout layout(hosts, r, messages_at(matrix, hosts, r));
    EXPECT_EQ(layout.outgoing().size(), 2U);
    EXPECT_EQ(layout.incoming().size(), 2U);
    is_taken.resize(static_cast<std::size_t>(layout.bytes()), 0);
    const auto take = [&](const exchange::HostLayout::Place& place) {
      for (Bytes b = place.begin; b < place.begin + place.bytes; ++b)
        EXPECT_EQ(is_taken.at(static_cast<std::size_t>(b))++, 0);
      sum += place.bytes;
    };
    for (const auto& place : layout.sends()) take(place);
    for (const auto& place : layout.receives())
      if (place.block != no_index) take(place);
  }
  Bytes expected = 0;
  for (const auto& message : messages_at(matrix, hosts, 4)) expected += message.bytes;
  EXPECT_EQ(sum, expected);
}

}  // namespace
}  // namespace nuice
