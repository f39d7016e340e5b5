// SPDX-License-Identifier: BSD-3-Clause
// Items that are sent together, in one hop and in two, and levels that end when all messages of a level have
// arrived.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "am/conformance.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/am/host_relay.hpp"
#include "nuice/am/level_sync.hpp"

namespace nuice::test {
namespace {

using am::Context;
using am::Endpoint;

/// Every item arrives once, in order per source, with echoes to the rank that pushed it.
void coalesce(Endpoint& ep, const am::HostRelay* relay, int effort) {
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> last(as_index(ep.num_ranks()), 0);
  am::Coalescer<Word>* echoes = nullptr;
  std::uint64_t echoed = 0;
  std::vector<std::uint64_t> sent(as_index(ep.num_ranks()), 0);
  std::vector<std::uint64_t> came(as_index(ep.num_ranks()), 0);
  const auto echo = ep.on_items<Word>("echo", [&](Context& c, std::span<const Word> words) {
    for (const Word& w : words) EXPECT_EQ(w.value, ++came[as_index(c.source())]);
    echoed += words.size();
  });
  const auto add = ep.on<Word>("add", [&](Context& c, const Word& w) {
    EXPECT_LT(last[as_index(c.source())], w.value);
    last[as_index(c.source())] = w.value;
    sum += w.value;
    echoes->push(c.source(), Word{++sent[as_index(c.source())]});
  });
  ep.seal();
  am::Coalescer<Word> items(ep, add, {.buffer_bytes = 200, .relay = relay});
  am::Coalescer<Word> back(ep, echo, {.buffer_bytes = 64, .relay = relay});
  echoes = &back;
  const auto alone = static_cast<std::uint64_t>(300 * effort);
  for (std::uint64_t i = 1; i <= alone; ++i) {
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst) items.push(dst, Word{i});
    if (i % 5 == 0) back.flush();  // while flush() waits for room, handlers push more items to the same rank
  }
  // No item, one, and more than a buffer holds.
  std::uint64_t count = alone;
  for (const std::size_t more : {0U, 1U, 70U, 7U, 30U}) {
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst)
      items.push_all(dst, more, [count](std::size_t i) noexcept { return Word{count + 1 + i}; });
    count += more;
  }
  ep.quiesce();
  EXPECT_EQ(sum, as_index(ep.num_ranks()) * (count * (count + 1) / 2));
  EXPECT_EQ(echoed, as_index(ep.num_ranks()) * count);
  EXPECT_LT(ep.stats().sent, 2 * as_index(ep.num_ranks()) * count / (relay != nullptr ? 1 : 5));
  EXPECT_EQ(error_of([&] { items.push(ep.num_ranks(), Word{}); })->code(), ErrorCode::invalid_argument);
  const auto outside = error_of([&] { items.push_all(-1, 2, [](std::size_t) noexcept { return Word{1}; }); });
  EXPECT_EQ(outside->code(), ErrorCode::invalid_argument);
  EXPECT_THROW(am::Coalescer<Word>(ep, add, {.buffer_bytes = 4}), Error);
}

void coalescing(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  coalesce(ep, nullptr, effort);
}

// Ranks alternate between two hosts: ranks with consecutive numbers are on different hosts, and with an odd
// number of ranks the hosts are unequal.
void coalescing_in_two_hops(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::vector<Rank> host_of;
  for (Rank rank = 0; rank < ep.num_ranks(); ++rank) host_of.push_back(rank % 2);
  const am::HostRelay relay(ep, Hosts(host_of));
  for (Rank dst = 0; dst < ep.num_ranks(); ++dst) {
    EXPECT_EQ(relay.relays(dst), dst % 2 != ep.rank() % 2);
    EXPECT_EQ(relay.dealer(dst) % 2, dst % 2);
  }
  coalesce(ep, &relay, effort);
}

void relays_that_cannot_be(const MakeTransport& make, int /*effort*/) {
  Endpoint ep(make());
  EXPECT_EQ(error_of([&] { const am::HostRelay wrong(ep, parse_hosts("2", ep.num_ranks() + 1)); })->code(),
            ErrorCode::invalid_argument);
  // Hosts that differ between ranks are refused.
  const am::HostRelay torn(ep, parse_hosts(ep.rank() == 1 ? "1" : "2", ep.num_ranks()));
  const auto error = error_of([&] { ep.seal(); });
  EXPECT_EQ(error.has_value(), ep.num_ranks() > 1);
  if (error) {
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
  }
}

void coalesced_items_leave_by_age(const MakeTransport& make, int /*effort*/) {
  Endpoint ep(make());
  std::uint64_t handled = 0;
  const auto add = ep.on<Word>("add", [&](Context&, const Word&) { ++handled; });
  const am::HostRelay relay(ep, parse_hosts("2", ep.num_ranks()));  // some ranks near, some through a
                                                                    // distributing rank
  ep.seal();
  am::Coalescer<Word> items(ep, add, {.buffer_bytes = 200, .max_age_us = 50, .relay = &relay});
  items.push((ep.rank() + 1) % ep.num_ranks(), Word{1});
  ep.poll_until([&] { return handled == 1; });
  ep.quiesce();
}

void levels_with_neighbours(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  am::LevelSync* sync = nullptr;
  std::vector<std::uint64_t> handled(static_cast<std::size_t>(100 * effort) + 1, 0);
  const auto tell = ep.on<Word>("tell", [&](Context& c, const Word& w) {
    EXPECT_EQ(w.value, sync->level_of(c.source()));
    ++handled[w.value];
  });
  ep.seal();
  std::vector<Rank> neighbours;
  for (const Rank step : {1, ep.num_ranks() - 1}) {
    const Rank other = (ep.rank() + step) % ep.num_ranks();
    if (other != ep.rank() && std::ranges::find(neighbours, other) == neighbours.end())
      neighbours.push_back(other);
  }
  am::LevelSync levels(ep, neighbours);
  sync = &levels;
  const auto num_levels = static_cast<std::uint64_t>(100 * effort);
  for (std::uint64_t level = 0; level < num_levels; ++level) {
    for (const Rank other : neighbours)
      for (std::uint64_t i = 0; i <= level % 4; ++i) ep.send(other, tell, Word{level});
    levels.finish_level();
    EXPECT_EQ(handled[level], neighbours.size() * (level % 4 + 1));
  }
  ep.quiesce();
  if (ep.num_ranks() < 2) return;
  const std::vector<Rank> one_way = ep.rank() == 0 ? std::vector<Rank>{1} : std::vector<Rank>{};
  EXPECT_EQ(error_of([&] { am::LevelSync bad(ep, one_way); })->code(), ErrorCode::mismatch);
  EXPECT_EQ(error_of([&] { am::LevelSync bad(ep, {ep.rank()}); })->code(), ErrorCode::invalid_argument);
}

constexpr ConformanceCase cases_of_coalescing[] = {
    {"Coalescing", coalescing},
    {"CoalescingInTwoHops", coalescing_in_two_hops},
    {"RelaysThatCannotBe", relays_that_cannot_be},
    {"CoalescedItemsLeaveByAge", coalesced_items_leave_by_age},
    {"LevelsWithNeighbours", levels_with_neighbours},
};

}  // namespace

std::span<const ConformanceCase> coalescing_cases() { return cases_of_coalescing; }

}  // namespace nuice::test
