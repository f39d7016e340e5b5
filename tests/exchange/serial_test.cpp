// SPDX-License-Identifier: BSD-3-Clause
// The serial executor: that it does what exchange.hpp defines, and that no wrong slice gets past it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "exchange/payload.hpp"
#include "exchange/split_schedule.hpp"
#include "nuice/nuice.hpp"
#include "support/matrices.hpp"
#include "support/throws.hpp"
#include "support/topologies.hpp"

namespace nuice {
namespace {

using test::matrix_of;
using test::World;

void expect_delivered(const std::vector<PhaseTable>& tables) {
  World world(tables);
  world.exchange(tables);
  for (std::size_t r = 0; r < tables.size(); ++r)
    EXPECT_EQ(world.receive[r], test::payload_expected(tables[r].rank, tables[r].sources)) << "rank " << r;
}

class SerialExchangeOf : public testing::TestWithParam<std::string_view> {};

TEST_P(SerialExchangeOf, DeliversEveryByteAndTouchesNoOther) {
  int carried_out = 0;
  for (const auto& [name, matrix] : test::all_matrices()) {
    if (lower_bounds(matrix).total_bytes > 1'000'000) continue;
    const Scheduler& scheduler = find_scheduler(GetParam());
    const Problem problem{
        .matrix = matrix, .seed = 11, .topology = test::network_for(scheduler, matrix.num_ranks())};
    if (!scheduler.why_not(problem).empty()) continue;
    SCOPED_TRACE(name);
    std::vector<PhaseTable> tables = slice_all(matrix, scheduler.make(problem));
    expect_delivered(tables);
    for (PhaseTable& table : tables) {
      const PhaseTable forward = std::exchange(table, reversed(table));
      EXPECT_EQ(reversed(table), forward);
    }
    expect_delivered(tables);  // the transposed matrix
    ++carried_out;
  }
  EXPECT_GT(carried_out, 50);
}

INSTANTIATE_TEST_SUITE_P(Table, SerialExchangeOf, testing::ValuesIn(test::scheduler_names()),
                         [](const auto& suite) { return std::string(suite.param); });

TEST(SerialExchange, CarriesSplitMessages) {
  const CommMatrix matrix = random_density(7, 0.6, {.unit_bytes = 5, .max_units = 20}, 3);
  for (const Bytes piece_bytes : {1, 7, 64, 1000})
    for (const PhaseId num_phases : {1U, 2U, 5U})
      expect_delivered(slice_all(matrix, test::split_schedule(matrix, piece_bytes, num_phases)));
}

TEST(SerialExchange, CopiesMessagesToItselfWithoutAnyPhase) {
  const CommMatrix matrix = matrix_of(3, {{0, 0, 5}, {2, 2, 9}});
  const auto tables = slice_all(matrix, make_schedule(matrix, "lp"));
  ASSERT_TRUE(tables[0].entries.empty());
  expect_delivered(tables);
}

/// Slices of: 0 -> 1 with 10 bytes and 1 -> 2 with 20 bytes, both in phase 0, and 2 -> 2 with 4 bytes.
std::vector<PhaseTable> small_tables() {
  const CommMatrix matrix = matrix_of(3, {{0, 1, 10}, {1, 2, 20}, {2, 2, 4}});
  return slice_all(matrix, make_schedule(matrix, "coloring"));
}

struct WrongTables {
  const char* name;
  std::function<void(std::vector<PhaseTable>&)> spoil;
  const char* text;  // must be in the error
};

void expect_mismatch(const WrongTables& wrong, std::vector<PhaseTable> tables) {
  World world(tables);  // of the tables as they should be
  wrong.spoil(tables);
  SCOPED_TRACE(wrong.name);
  EXPECT_ERROR(world.exchange(tables), ErrorCode::mismatch, {wrong.text});
}

TEST(SerialExchange, NamesTheFirstFaultOfWrongSlices) {
  ASSERT_EQ(small_tables()[1].entries.size(), 1U);
  const std::vector<WrongTables> cases = {
      {"lost receive", [](auto& t) { t[1].entries[0].recv_partner = no_rank; },
       "phase 0, rank 0 -> rank 1: a send without its receive"},
      {"lost send", [](auto& t) { t[1].entries[0].send_partner = no_rank; },
       "phase 0, rank 1 -> rank 2: a receive without its send"},
      {"wrong partner", [](auto& t) { t[0].entries[0].send_partner = 2; },
       "phase 0, rank 0 -> rank 1: a receive without its send"},
      {"no such partner", [](auto& t) { t[1].entries[0].send_partner = 9; },
       "phase 0, rank 1 -> rank 2: a receive without its send"},
      {"other length", [](auto& t) { t[1].entries[0].recv_bytes = 9; },
       "rank 0 -> rank 1: 10 bytes are sent, 9 are expected"},
      {"lost on both sides",
       [](auto& t) {
         t[0].entries.clear();
         t[1].entries[0].recv_partner = no_rank;
       },
       "rank 0 -> rank 1: the phases carry 0 of 10 bytes"},
      {"outside the send buffer", [](auto& t) { t[0].entries[0].send_offset = 1; },
       "a send of 10 bytes at offset 1 of a message of 10"},
      {"outside the receive buffer", [](auto& t) { t[1].entries[0].recv_offset = -1; },
       "a receive of 10 bytes at offset -1 of a message of 10"},
      {"message to itself", [](auto& t) { t[2].sources[1].bytes = 3; },
       "rank 2 -> rank 2: 4 bytes are sent, 3 are expected"},
      {"another rank's table", [](auto& t) { std::swap(t[0], t[1]); }, "table 0 is that of rank 1 of 3"},
      {"other number of phases", [](auto& t) { t[2].num_phases = 2; }, "table 2 has 2 phases, table 0 has 1"},
      {"phase beyond the last", [](auto& t) { t[1].entries[0].phase = 1; }, "entries of rank 1"},
      {"unsorted sources", [](auto& t) { std::swap(t[2].sources[0], t[2].sources[1]); }, "sources of rank 2"},
  };
  for (const WrongTables& wrong : cases) expect_mismatch(wrong, small_tables());
}

/// 0 -> 2 with 8 bytes over rank 1, which gets them with 4 of its own and sends them on in two phases.
std::vector<PhaseTable> forwarding_tables() {
  const CommMatrix matrix = matrix_of(3, {{0, 2, 8}, {0, 1, 4}});
  Schedule schedule(3);
  schedule.add(0, 1, std::vector<Piece>{{1, 0, 8}, {0, 0, 4}});
  schedule.begin_phase();
  schedule.add(1, 2, std::vector<Piece>{{1, 0, 5}});
  schedule.begin_phase();
  schedule.add(1, 2, std::vector<Piece>{{1, 5, 3}});
  return slice_all(matrix, schedule);
}

TEST(SerialExchange, CarriesForwardedMessagesInParts) { expect_delivered(forwarding_tables()); }

TEST(SerialExchange, NamesTheFirstFaultOfForwarding) {
  const std::vector<WrongTables> cases = {
      {"sent in the phase of its arrival",
       [](auto& t) {
         t[1].entries[1].phase = 0;
         t[2].entries[0].phase = 0;
       },
       "phase 0, rank 1 -> rank 2: bytes [0, 5) of message rank 0 -> rank 2 are not there"},
      {"sent on twice",
       [](auto& t) {
         t[1].parts[3] = t[1].parts[2];
         t[2].parts[1] = t[2].parts[0];
         t[1].entries[2].send_bytes = t[2].entries[1].recv_bytes = 5;
       },
       "phase 2, rank 1 -> rank 2: bytes [0, 5) of message rank 0 -> rank 2 are not there"},
      {"never sent on",
       [](auto& t) {
         t[1].entries.pop_back();
         t[2].entries.pop_back();
       },
       "rank 0 -> rank 2: the phases carry 5 of 8 bytes"},
      {"other parts at the receiver", [](auto& t) { std::swap(t[1].parts[0], t[1].parts[1]); },
       "phase 0, rank 0 -> rank 1: the parts that are sent are not those that are expected"},
      {"parts at one end only", [](auto& t) { t[1].entries[0].recv_parts = {}; },
       "phase 0, rank 0 -> rank 1: the parts that are sent are not those that are expected"},
      {"part of no message", [](auto& t) { t[0].parts[0].offset = t[1].parts[0].offset = 1; },
       "a send of 8 bytes at offset 1 of a message of 8"},
      {"part of no rank", [](auto& t) { t[0].parts[0].dst = 3; }, "the parts of rank 0"},
      {"outside the parts", [](auto& t) { t[2].entries[0].recv_parts = {1, 2}; }, "the parts of rank 2"},
  };
  for (const WrongTables& wrong : cases) expect_mismatch(wrong, forwarding_tables());
}

TEST(SerialExchange, PairsSeveralEntriesOfOnePairInOrder) {
  std::vector<PhaseTable> tables = small_tables();
  // 0 -> 1 in two pieces of the same phase; the receiver expects them the other way round.
  tables[0].entries[0].send_bytes = 4;
  tables[0].entries.push_back({.phase = 0, .send_partner = 1, .send_bytes = 6, .send_offset = 4});
  tables[1].entries[0].recv_bytes = 4;
  tables[1].entries.push_back({.phase = 0, .recv_partner = 0, .recv_bytes = 6, .recv_offset = 4});
  expect_delivered(tables);
  std::swap(tables[1].entries[0].recv_bytes, tables[1].entries[1].recv_bytes);
  World world(tables);
  EXPECT_THROW(world.exchange(tables), Error);
}

class WrongBuffers : public testing::Test {
 protected:
  void SetUp() override {
    for (const test::Blocks& blocks : world.send) send.push_back(test::send_buffers(blocks));
    for (test::Blocks& blocks : world.receive) receive.push_back(test::receive_buffers(blocks));
  }
  void expect_invalid(const std::string& text) const {
    EXPECT_ERROR(exchange_serially(tables, send, receive), ErrorCode::invalid_argument, {text});
  }
  std::vector<PhaseTable> tables = small_tables();
  World world{tables};
  std::vector<std::vector<SendBuffer>> send;
  std::vector<std::vector<ReceiveBuffer>> receive;
};

TEST_F(WrongBuffers, MissingRank) {
  send.pop_back();
  expect_invalid("3 tables, but the send buffers of 2");
}
TEST_F(WrongBuffers, MissingBuffer) {
  receive[2].pop_back();
  expect_invalid("rank 2 gives 1 receive buffers for 2 partners");
}
TEST_F(WrongBuffers, NullSend) {
  send[0][0].data = nullptr;
  expect_invalid("rank 0 -> rank 1: the send buffer is null");
}
TEST_F(WrongBuffers, SmallReceive) {
  receive[2][0].bytes = 19;
  expect_invalid("rank 1 -> rank 2: the receive buffer has 19 bytes, the message has 20");
}
TEST_F(WrongBuffers, RoomToSpareIsFine) {
  for (auto& of_rank : receive)
    for (ReceiveBuffer& buffer : of_rank) buffer.bytes += static_cast<Bytes>(test::guard_bytes);
  EXPECT_NO_THROW(exchange_serially(tables, send, receive));
}

}  // namespace
}  // namespace nuice
