// SPDX-License-Identifier: BSD-3-Clause
#include "am/conformance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "nuice/am/port.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::test {
namespace {

using am::Context;
using am::Endpoint;
using am::Tail;

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t key) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(mix64(key) + i * 7);
  return data;
}

std::int64_t sum_over_ranks(Endpoint& ep, std::int64_t value) {
  return ep.reduce(am::ReduceOp::sum, {&value, 1})[0];
}

// --- Order and sizes ---

struct Numbered {
  std::uint32_t number;
};

// Plain messages, tails and calls between two ranks stay in order, whatever their size; also messages to the
// own rank.
void order_per_pair(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::vector<std::uint32_t> next(as_index(ep.num_ranks()), 0);
  const auto take = [&](Rank src, std::uint32_t number) {
    EXPECT_EQ(next[as_index(src)]++, number) << "from " << src;
  };
  const auto plain =
      ep.on<Numbered>("plain", [&](Context& c, const Numbered& n) { take(c.source(), n.number); });
  const auto tailed = ep.on<Numbered>("tailed", [&](Context& c, const Numbered& n, Tail tail) {
    take(c.source(), n.number);
    EXPECT_EQ(tail.size(), n.number % 200);
  });
  const auto asked = ep.on_call<Numbered, std::uint32_t>("asked", [&](Context& c, const Numbered& n) {
    take(c.source(), n.number);
    return n.number + 1;
  });
  ep.seal();
  const auto count = static_cast<std::uint32_t>(200 * effort);
  const std::vector<std::byte> bytes(200);
  for (std::uint32_t i = 0; i < count; ++i)
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst) {
      if (i % 7 == 3) {
        (void)ep.call(dst, asked, Numbered{i});
      } else if (i % 3 == 0) {
        ep.send(dst, tailed, Numbered{i}, std::span(bytes).first(i % 200));
      } else {
        ep.send(dst, plain, Numbered{i});
      }
    }
  ep.quiesce();
  for (const std::uint32_t n : next) EXPECT_EQ(n, count);
}

struct Sized {
  std::uint64_t bytes;
};

void empty_to_largest(const MakeTransport& make, int /*effort*/) {
  Endpoint ep(make());
  std::uint64_t handled = 0;
  std::uint64_t empty = 0;
  const auto sized = ep.on<Sized>("sized", [&](Context& c, const Sized& s, Tail tail) {
    ++handled;
    ASSERT_EQ(tail.size(), s.bytes);
    const auto expected = pattern(tail.size(), s.bytes + as_index(c.source()));
    EXPECT_TRUE(std::ranges::equal(tail, expected));
  });
  const auto nothing = ep.on<am::Nothing>("nothing", [&](Context&, const am::Nothing&) { ++empty; });
  const auto packet = ep.on<am::Packet>("packet", [&](Context& c, const am::Packet& p) {
    EXPECT_EQ(p.words[3], p.words[0] + 3);
    EXPECT_EQ(p.words[1], static_cast<std::uint32_t>(c.source()));
  });
  ep.seal();
  const std::size_t largest = ep.max_message_bytes() - sizeof(Sized);
  std::vector<std::size_t> sizes = {0, 1, 7, 8, 9, 55, 56, 57, 100, 1000, largest / 2, largest - 1, largest};
  for (const std::size_t bytes : sizes)
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst) {
      if (bytes > largest) continue;
      ep.send(dst, sized, Sized{bytes}, pattern(bytes, bytes + as_index(ep.rank())));
      ep.send(dst, nothing, {});
      const auto word = static_cast<std::uint32_t>(bytes);
      ep.send(dst, packet, {{word, static_cast<std::uint32_t>(ep.rank()), 0, word + 3}});
    }
  const auto too_large =
      error_of([&] { ep.send(ep.num_ranks() - 1, sized, Sized{1}, std::vector<std::byte>(largest + 1)); });
  EXPECT_EQ(too_large->code(), ErrorCode::invalid_argument);
  const auto outside = error_of([&] { ep.send(ep.num_ranks(), nothing, {}); });
  EXPECT_EQ(outside->code(), ErrorCode::invalid_argument);
  ep.quiesce();
  const auto expected =
      static_cast<std::uint64_t>(ep.num_ranks()) *
      static_cast<std::uint64_t>(std::ranges::count_if(sizes, [&](auto s) { return s <= largest; }));
  EXPECT_EQ(handled, expected);
  EXPECT_EQ(empty, expected);
}

// --- Floods ---

void all_to_all_flood(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::uint64_t sum = 0;
  const auto add = ep.on<Word>("add", [&](Context&, const Word& w) { sum += w.value; });
  ep.seal();
  const auto count = static_cast<std::uint64_t>(300 * effort);
  for (std::uint64_t i = 0; i < count; ++i)
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst) ep.send(dst, add, Word{i});
  ep.quiesce();
  EXPECT_EQ(sum, static_cast<std::uint64_t>(ep.num_ranks()) * (count * (count - 1) / 2));
}

// No rank polls before it must. Every ring fills, every rank waits for room, and the flood still ends.
void until_every_ring_is_full(const MakeTransport& make, int effort) {
  Endpoint ep(make(), {.poll_every = 0});
  std::uint64_t bytes = 0;
  const auto take =
      ep.on<am::Nothing>("take", [&](Context&, const am::Nothing&, Tail tail) { bytes += tail.size(); });
  ep.seal();
  const std::vector<std::byte> large(ep.max_message_bytes());
  const int count = 200 + 30 * effort;
  for (int i = 0; i < count; ++i)
    for (Rank k = 1; k <= ep.num_ranks(); ++k) ep.send((ep.rank() + k) % ep.num_ranks(), take, {}, large);
  ep.quiesce();
  EXPECT_EQ(bytes, as_index(ep.num_ranks()) * large.size() * static_cast<std::size_t>(count));
  EXPECT_GT(ep.stats().stalls, 0U);
}

// Buffers may be overwritten as soon as send() returns, also if the message had to wait for room.
void a_buffer_is_free_after_its_send(const MakeTransport& make, int effort) {
  Endpoint ep(make(), {.poll_every = 0});
  const auto count = static_cast<std::uint32_t>(100 + 30 * effort);
  std::vector<std::uint32_t> next(as_index(ep.num_ranks()));
  const auto take = ep.on<Numbered>("take", [&](Context& c, const Numbered& n, Tail tail) {
    EXPECT_EQ(n.number, next[as_index(c.source())]++);
    EXPECT_TRUE(std::ranges::equal(tail, pattern(tail.size(), n.number + as_index(c.source()))));
  });
  ep.seal();
  const std::size_t largest = ep.max_message_bytes() - sizeof(Numbered);
  std::vector<std::byte> buffer(largest);
  for (std::uint32_t i = 0; i < count; ++i)
    for (Rank k = 1; k <= ep.num_ranks(); ++k) {
      const auto bytes = i % 4 == 0 ? largest : (i * 37) % (largest + 1);
      std::ranges::copy(pattern(bytes, i + as_index(ep.rank())), buffer.begin());
      ep.send((ep.rank() + k) % ep.num_ranks(), take, Numbered{i}, std::span(buffer).first(bytes));
      std::ranges::fill(buffer, std::byte{0xee});
    }
  ep.quiesce();
  for (const std::uint32_t n : next) EXPECT_EQ(n, count);
}

// --- Handlers that send ---

struct Hop {
  std::uint32_t left;
};

// A chain of messages does not recurse: the stack stays flat.
void recursion_depth(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::uint64_t hops = 0;
  am::Handler<Hop> hop;
  hop = ep.on<Hop>("hop", [&](Context& c, const Hop& h) {
    ++hops;
    const Rank next = h.left % 3 == 0 ? ep.rank() : (ep.rank() + 1) % ep.num_ranks();
    if (h.left > 0) c.endpoint().send(next, hop, Hop{h.left - 1});
  });
  ep.seal();
  const auto depth = static_cast<std::uint32_t>(1000 * effort);
  if (ep.rank() == 0) ep.send(ep.num_ranks() - 1, hop, Hop{depth});
  ep.quiesce();
  EXPECT_EQ(sum_over_ranks(ep, static_cast<std::int64_t>(hops)), depth + 1);
}

// Every request is answered by the largest possible reply, in all directions at once.
void reply_storm(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::uint64_t replies = 0;
  const std::vector<std::byte> large(ep.max_message_bytes() - sizeof(Word));
  const auto answer = ep.on<Word>("answer", [&](Context&, const Word& w, Tail tail) {
    EXPECT_EQ(tail.size(), large.size());
    replies += w.value;
  });
  const auto ask = ep.on<Word>("ask", [&](Context& c, const Word& w) { c.reply(answer, w, large); });
  ep.seal();
  const int count = 50 + 20 * effort;
  for (int i = 0; i < count; ++i)
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst) ep.send(dst, ask, Word{1});
  ep.quiesce();
  EXPECT_EQ(replies, as_index(ep.num_ranks()) * static_cast<std::size_t>(count));
}

// One handler sends more than any ring holds. The excess is kept, and stays in order.
void handler_sends_more_than_fits(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::uint32_t next = 0;
  const std::vector<std::byte> large(ep.max_message_bytes() - sizeof(Numbered));
  const auto take =
      ep.on<Numbered>("take", [&](Context&, const Numbered& n, Tail) { EXPECT_EQ(next++, n.number); });
  const auto count = static_cast<std::uint32_t>(100 + 20 * effort);
  const auto start = ep.on<am::Nothing>("start", [&](Context& c, const am::Nothing&) {
    for (std::uint32_t i = 0; i < count; ++i) c.endpoint().send(c.source(), take, Numbered{i}, large);
  });
  ep.seal();
  ep.send((ep.rank() + 1) % ep.num_ranks(), start, {});
  ep.quiesce();
  EXPECT_EQ(next, count);
  // Another rank may make room meanwhile.
  if (ep.num_ranks() == 1) {
    EXPECT_GT(ep.stats().most_deferred, 0U);
  }
}

// --- Calls ---

void calls(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  const auto square =
      ep.on_call<Word, Word>("square", [](Context&, const Word& w) { return Word{w.value * w.value}; });
  const auto fail = ep.on_call<Word, Word>("fail", [&](Context&, const Word&) -> Word {
    throw Error(ErrorCode::io, "no such thing on rank " + std::to_string(ep.rank()));
  });
  ep.seal();
  const Rank dst = (ep.rank() + 1) % ep.num_ranks();
  std::vector<am::Future<Word>> futures;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(50 * effort); ++i)
    futures.push_back(ep.call(dst, square, Word{i}));
  for (std::size_t i = futures.size(); i-- > 0;) EXPECT_EQ(futures[i].get().value, i * i);
  {
    const auto dropped = ep.call(dst, square, Word{3});
  }
  EXPECT_EQ(ep.call(ep.rank(), square, Word{9}).get().value, 81U);
  const auto failure = error_of([&] { (void)ep.call(dst, fail, Word{0}).get(); });
  ASSERT_TRUE(failure);
  EXPECT_NE(std::string(failure->what()).find("no such thing on rank " + std::to_string(dst)),
            std::string::npos);
  ep.quiesce();
}

// --- Rules and errors ---

/// Polls until an error is thrown, and returns it.
Error next_error(Endpoint& ep) {
  for (;;) {
    if (auto error = error_of([&] { ep.poll(); })) return *error;
  }
}

void handlers_may_not_wait(const MakeTransport& make, int /*effort*/) {
  Endpoint ep(make());
  int refused = 0;
  const auto count = [&](auto&& step) {
    const auto error = error_of(step);
    if (error && error->code() == ErrorCode::state) ++refused;
  };
  const auto echo = ep.on<am::Nothing>("echo", [](Context&, const am::Nothing&) {});
  const auto ask = ep.on_call<Word, Word>("ask", [](Context&, const Word& w) { return w; });
  const auto bad = ep.on<am::Nothing>("bad", [&](Context& c, const am::Nothing&) {
    count([&] { ep.poll(); });
    count([&] { ep.quiesce(); });
    count([&] { ep.barrier(); });
    count([&] { (void)ep.call(c.source(), ask, Word{1}).get(); });
    c.reply(echo, {});
    count([&] { c.reply(echo, {}); });
  });
  EXPECT_EQ(error_of([&] { ep.send(0, echo, {}); })->code(), ErrorCode::state);
  ep.seal();
  EXPECT_EQ(error_of([&] { ep.seal(); })->code(), ErrorCode::state);
  EXPECT_EQ(error_of([&] { ep.on<Word>("late", [](Context&, const Word&) {}); })->code(), ErrorCode::state);
  ep.send((ep.rank() + 1) % ep.num_ranks(), bad, {});
  ep.quiesce();
  EXPECT_EQ(refused, 5);
}

void bad_messages_are_errors(const MakeTransport& make, int /*effort*/) {
  Endpoint ep(make());
  std::uint64_t sum = 0;
  const auto add = ep.on<Word>("add", [&](Context&, const Word& w) { sum += w.value; });
  const auto ask = ep.on_call<Word, Word>("ask", [](Context&, const Word& w) { return w; });
  const auto thrower = ep.on<am::Nothing>(
      "thrower", [](Context&, const am::Nothing&) { throw std::out_of_range("a handler's own"); });
  ep.seal();
  const Rank dst = (ep.rank() + 1) % ep.num_ranks();
  const Rank src = (ep.rank() + ep.num_ranks() - 1) % ep.num_ranks();
  const std::vector<std::byte> bytes(20);
  struct Bad {
    am::Kind kind;
    std::uint16_t id;
    std::size_t bytes;
    std::string text;
  };
  const std::vector<Bad> all = {
      {am::Kind::message, 7, 8, "names handler 7, but 3 are registered"},
      {am::Kind::message, add.id, 4, "has 4 bytes where its handler takes 8"},
      {am::Kind::message, add.id, 0, "has 0 bytes where its handler takes 8"},
      {am::Kind::batch, add.id, 20, "has 20 bytes where its handler takes 8"},
      {am::Kind::call, add.id, 16, "does not take this kind of message"},
      {am::Kind::message, ask.id, 8, "does not take this kind of message"},
      {am::Kind::internal, 99, 8, "names handler 99"},
  };
  for (const Bad& bad : all) {
    const auto at_once =
        error_of([&] { ep.send_raw(dst, bad.kind, bad.id, std::span(bytes).first(bad.bytes)); });
    const Error error = at_once ? *at_once : next_error(ep);
    EXPECT_EQ(error.code(), ErrorCode::mismatch);
    EXPECT_NE(std::string(error.what()).find(bad.text), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("from rank " + std::to_string(src)), std::string::npos)
        << error.what();
    ep.quiesce();  // a barrier would let the next bad message in
  }
  bool thrown = false;
  const auto catching = [&](auto&& step) {
    try {
      step();
    } catch (const std::out_of_range&) {
      thrown = true;
    }
  };
  catching(
      [&] { ep.send(dst, thrower, {}); });  // may have to wait for room, and meets the other's message then
  catching([&] { ep.quiesce(); });
  EXPECT_TRUE(thrown);
  ep.send(dst, add, Word{5});
  ep.quiesce();
  EXPECT_EQ(sum, 5U);
}

void other_handlers_are_found(const MakeTransport& make, int /*effort*/) {
  Endpoint ep(make());
  if (ep.num_ranks() == 1) return;
  ep.on<Word>("first", [](Context&, const Word&) {});
  if (ep.rank() == ep.num_ranks() - 1) {
    ep.on<Word>("other name", [](Context&, const Word&) {});
  } else {
    ep.on<Word>("second", [](Context&, const Word&) {});
  }
  const auto error = error_of([&] { ep.seal(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::mismatch);
  EXPECT_NE(std::string(error->what()).find("rank " + std::to_string(ep.num_ranks() - 1)), std::string::npos);
}

// --- Ports ---

void ports_are_re_armed(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::vector<am::PortRef> refs(as_index(ep.num_ranks()));
  const auto tell = ep.on<am::PortRef>(
      "tell", [&](Context& c, const am::PortRef& ref) { refs[as_index(c.source())] = ref; });
  ep.seal();
  // Sizes for one small message, for several messages, and for bulk transfer.
  for (const std::size_t part : {std::size_t{1}, std::size_t{5000}, std::size_t{300000}}) {
    std::vector<std::byte> memory(part * as_index(ep.num_ranks()));
    int completed = 0;
    am::Port port = ep.open_port(memory, static_cast<Bytes>(memory.size()), [&](Context&) { ++completed; });
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst) ep.send(dst, tell, port.ref());
    ep.quiesce();
    for (int round = 0; round < 1 + effort / 4; ++round) {
      const auto data = pattern(part, as_index(ep.rank()) + static_cast<std::uint64_t>(round));
      for (Rank k = 0; k < ep.num_ranks(); ++k) {
        am::PortRef& ref = refs[as_index((ep.rank() + k) % ep.num_ranks())];
        ep.put(ref, static_cast<Bytes>(part) * ep.rank(), data);
        ref = ref.next();
      }
      ep.poll_until([&] { return port.complete(); });
      EXPECT_EQ(completed, round + 1);
      for (Rank src = 0; src < ep.num_ranks(); ++src) {
        const auto expected = pattern(part, as_index(src) + static_cast<std::uint64_t>(round));
        EXPECT_TRUE(std::ranges::equal(std::span(memory).subspan(part * as_index(src), part), expected));
      }
      std::ranges::fill(memory, std::byte{0});
      port.rearm();
      ep.quiesce();
    }
  }
}

void late_and_large_puts_are_errors(const MakeTransport& make, int /*effort*/) {
  Endpoint ep(make());
  am::PortRef ref;
  const auto tell = ep.on<am::PortRef>("tell", [&](Context&, const am::PortRef& r) { ref = r; });
  ep.seal();
  const Rank before = (ep.rank() + ep.num_ranks() - 1) % ep.num_ranks();
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{200000}}) {
    std::vector<std::byte> memory(bytes);
    am::Port port = ep.open_port(memory, static_cast<Bytes>(bytes));
    ep.send(before, tell, port.ref());
    ep.quiesce();
    const std::vector<std::byte> data(bytes, std::byte{1});
    // One put at a time, each followed by a quiesce(), which throws the error.
    const auto expect = [&](const am::PortRef& to, Bytes offset, std::span<const std::byte> what,
                            const std::string& text) {
      std::optional<Error> error = error_of([&] { ep.put(to, offset, what); });
      const std::optional<Error> later = error_of([&] { ep.quiesce(); });
      if (!error) error = later;
      ASSERT_TRUE(error) << text;
      EXPECT_EQ(error->code(), ErrorCode::mismatch);
      EXPECT_NE(std::string(error->what()).find(text), std::string::npos) << error->what();
      EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte b) { return b == std::byte{0}; })) << text;
    };
    expect(ref.next(), 0, data, "is for generation");
    expect(ref, 1, data, "would write");
    expect(ref, -1, data, "would write");
    am::PortRef none = ref;
    none.id = 1000;
    expect(none, 0, data, "which does not exist");
    ep.put(ref, 0, data);
    ep.quiesce();
    EXPECT_TRUE(port.complete());
    std::ranges::fill(memory, std::byte{0});
    expect(ref, 0, data, "closed after");
    port.rearm();
    ep.quiesce();
    expect(ref, 0, data, "is for generation");
    EXPECT_EQ(port.missing(), static_cast<Bytes>(bytes));
    EXPECT_EQ(error_of([&] { port.rearm(); })->code(), ErrorCode::state);
  }
}

// --- Quiescence ---

struct Tree {
  std::uint32_t depth;
  std::uint32_t epoch;
  std::uint64_t seed;
};

// Each message makes two others on random ranks until its depth is used up; epochs follow each other without
// a pause. No message of an epoch may be handled before a rank has left the quiesce() of the previous epoch.
void messages_that_make_messages(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::uint32_t epoch = 0;
  std::int64_t handled = 0;
  am::Handler<Tree> grow;
  grow = ep.on<Tree>("grow", [&](Context&, const Tree& t) {
    EXPECT_EQ(t.epoch, epoch);
    ++handled;
    if (t.depth == 0) return;
    Random random(t.seed);
    for (int child = 0; child < 2; ++child) {
      const auto dst = static_cast<Rank>(random.below(static_cast<std::uint64_t>(ep.num_ranks())));
      ep.send(dst, grow, Tree{t.depth - 1, epoch, random.next()});
    }
  });
  ep.seal();
  const std::uint32_t epochs = 5 * static_cast<std::uint32_t>(effort);
  for (; epoch < epochs;) {
    handled = 0;
    const std::uint32_t depth = 2 + epoch % 5;
    if (static_cast<Rank>(epoch) % ep.num_ranks() == ep.rank())
      ep.send(ep.rank(), grow, Tree{depth, epoch, epoch});
    ep.quiesce();
    ++epoch;
    const std::int64_t mine = handled;
    EXPECT_EQ(sum_over_ranks(ep, mine), (std::int64_t{1} << (depth + 1)) - 1);
    ep.quiesce();
  }
}

// A rank that leaves quiesce() sends at once. Other ranks may still be inside theirs (LLNL/ygm#224).
void nobody_leaves_early(const MakeTransport& make, int effort) {
  Endpoint ep(make());
  std::uint32_t epoch = 0;
  std::int64_t wrong = 0;
  std::int64_t handled = 0;
  const auto tell = ep.on<Hop>("tell", [&](Context&, const Hop& h) {
    ++handled;
    wrong += h.left != epoch ? 1 : 0;
  });
  ep.seal();
  const std::uint32_t epochs = 30 * static_cast<std::uint32_t>(effort);
  for (; epoch < epochs; ++epoch) {
    for (Rank dst = 0; dst < ep.num_ranks(); ++dst) ep.send(dst, tell, Hop{epoch});
    ep.quiesce();
    EXPECT_EQ(handled, ep.num_ranks() * (static_cast<std::int64_t>(epoch) + 1));
  }
  EXPECT_EQ(wrong, 0);
}

constexpr ConformanceCase cases[] = {
    {"OrderPerPair", order_per_pair},
    {"EmptyToLargest", empty_to_largest},
    {"AllToAllFlood", all_to_all_flood},
    {"UntilEveryRingIsFull", until_every_ring_is_full},
    {"ABufferIsFreeAfterItsSend", a_buffer_is_free_after_its_send},
    {"RecursionDepth", recursion_depth},
    {"ReplyStorm", reply_storm},
    {"HandlerSendsMoreThanFits", handler_sends_more_than_fits},
    {"Calls", calls},
    {"HandlersMayNotWait", handlers_may_not_wait},
    {"BadMessagesAreErrors", bad_messages_are_errors},
    {"OtherHandlersAreFound", other_handlers_are_found},
    {"PortsAreReArmed", ports_are_re_armed},
    {"LateAndLargePutsAreErrors", late_and_large_puts_are_errors},
    {"MessagesThatMakeMessages", messages_that_make_messages},
    {"NobodyLeavesEarly", nobody_leaves_early},
};

}  // namespace

std::span<const ConformanceCase> conformance_cases() {
  static const std::vector<ConformanceCase> all = [] {
    std::vector<ConformanceCase> list(std::begin(cases), std::end(cases));
    for (const auto more : {coalescing_cases(), error_cases()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

}  // namespace nuice::test
