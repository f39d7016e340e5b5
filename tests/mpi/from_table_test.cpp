// SPDX-License-Identifier: BSD-3-Clause
// Plans from tables: split messages with every executor, and the ways in which tables fail to fit together.
#include <functional>

#include "exchange/split_schedule.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

CommMatrix complete(Rank n, Bytes bytes) {
  std::vector<Message> entries;
  for (Rank src = 0; src < n; ++src)
    for (Rank dst = 0; dst < n; ++dst) entries.push_back({src, dst, bytes + src + 2 * dst});
  return CommMatrix::from_messages(n, entries);
}

void expect_exchanged(const CommMatrix& matrix, const Schedule& schedule, const mpi::PlanOptions& options) {
  const auto tables = slice_all(matrix, schedule);
  test::World world(tables);
  world.exchange(tables);
  const auto rank = static_cast<std::size_t>(test::world_rank());
  mpi::Plan plan = mpi::Plan::from_table(MPI_COMM_WORLD, tables[rank], options);
  EXPECT_EQ(plan.table(), tables[rank]);
  EXPECT_EQ(plan.info().num_phases, schedule.num_phases());
  EXPECT_EQ(plan.info().phase_bytes, phase_bytes(schedule));
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 3; ++round) {
    bound.refill(round);
    bound.exchange.start();
    bound.exchange.wait();
    if (round == 0) {
      EXPECT_EQ(bound.receive, world.receive[rank]);
    }
    bound.expect_received(round);
  }
}

TEST(FromTable, CarriesSplitMessagesWithEveryExecutor) {
  const Rank n = test::world_size();
  struct Split {
    Bytes message_bytes, piece_bytes;
    PhaseId num_phases;
  };
  // The last has pieces on both sides of every MPI's eager limit between one pair.
  for (const auto& [message_bytes, piece_bytes, num_phases] :
       {Split{100, 30, 3}, Split{100, 1000, 1}, Split{64, 5, 1}, Split{100'000, 70'000, 2}}) {
    if (n == 8 && message_bytes == 100'000) continue;  // seconds, and between two ranks the same on fewer
    const CommMatrix matrix = complete(n, message_bytes);
    const Schedule schedule = test::split_schedule(matrix, piece_bytes, num_phases);
    SCOPED_TRACE("pieces of " + std::to_string(piece_bytes));
    for (const std::string executor : {"async", "phased", "pairwise"})
      expect_exchanged(matrix, schedule, {.scheduler = "split", .executor = executor});
    expect_exchanged(matrix, schedule,
                     {.scheduler = "split", .executor = "async", .async = {.max_sends = 2}});
  }
}

TEST(FromTable, RunsTheScheduleOfAnyScheduler) {
  const CommMatrix matrix = complete(test::world_size(), 10);
  expect_exchanged(matrix, make_schedule(matrix, "coloring"), {.scheduler = "loaded"});
}

/// Split messages, forwarded: everything goes to the next rank first, in pieces, and from there where it is
/// for. Two phases each; a transfer carries pieces of several messages, some of them at their destination.
Schedule detour_schedule(const CommMatrix& matrix) {
  const Rank n = matrix.num_ranks();
  Schedule schedule(n);
  for (const bool second_half : {false, true}) {
    const auto half = [&](MessageId id) {
      const Bytes middle = matrix.bytes(id) / 2;
      return second_half ? Piece{id, middle, matrix.bytes(id) - middle} : Piece{id, 0, middle};
    };
    schedule.begin_phase();
    for (Rank src = 0; src < n; ++src) {
      std::vector<Piece> pieces;
      for (const MessageId id : matrix.sent_by(src)) pieces.push_back(half(id));
      if (!pieces.empty()) schedule.add(src, (src + 1) % n, pieces);
    }
  }
  for (Rank distance = 1; distance < n; ++distance) {
    schedule.begin_phase();
    for (Rank at = 0; at < n; ++at) {
      const Rank src = (at + n - 1) % n;
      const Rank dst = (at + distance) % n;
      const auto id = matrix.find(src, dst);
      if (!id || dst == src) continue;
      schedule.add(at, dst, std::vector<Piece>{{*id, 0, matrix.bytes(*id)}});  // both halves at once
    }
  }
  return schedule;
}

TEST(FromTable, CarriesForwardedMessages) {
  const CommMatrix matrix = complete(test::world_size(), 10'000);
  for (const std::string executor : {"phased", "pairwise"}) {
    expect_exchanged(matrix, make_schedule(matrix, "rex"), {.scheduler = "loaded", .executor = executor});
    expect_exchanged(matrix, detour_schedule(matrix), {.scheduler = "detour", .executor = executor});
  }
}

TEST(FromTable, RefusesForwardingAtOnce) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const CommMatrix matrix = complete(test::world_size(), 10);
  const PhaseTable table = slice(matrix, detour_schedule(matrix), test::world_rank());
  test::expect_same_error(ErrorCode::not_applicable, "the schedule forwards messages through other ranks",
                          [&] { mpi::Plan::from_table(MPI_COMM_WORLD, table, {.executor = "async"}); });
}

/// Tables of a ring: rank r sends 100 bytes to rank r + 1, in two pieces in two phases.
PhaseTable ring_table() {
  const Rank n = test::world_size();
  std::vector<Message> entries;
  for (Rank src = 0; src < n; ++src) entries.push_back({src, (src + 1) % n, 100});
  const CommMatrix matrix = CommMatrix::from_messages(n, entries);
  Schedule schedule(n);
  for (const Bytes offset : {0, 50}) {
    schedule.begin_phase();
    for (MessageId id = 0; id < matrix.num_messages(); ++id) {
      const Piece piece{id, offset, 50};
      schedule.add(matrix.src(id), matrix.dst(id), {&piece, 1});
    }
  }
  return slice(matrix, schedule, test::world_rank());
}

struct WrongTable {
  std::function<void(PhaseTable&)> spoil;  // called on rank 1 only
  std::string text;
};

TEST(FromTable, RefusesTablesThatDoNotFitTogether) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const std::string last = std::to_string(test::world_size());
  const std::vector<WrongTable> cases = {
      {[](PhaseTable& t) { t.entries[1].recv_partner = no_rank; },
       "phase 1, rank 0 -> rank 1: 50 bytes at offset 50 is sent, nothing is expected"},
      {[](PhaseTable& t) { t.entries[1].recv_bytes = 49; },
       "phase 1, rank 0 -> rank 1: 50 bytes at offset 50 is sent, 49 bytes at offset 50 is expected"},
      {[](PhaseTable& t) { t.entries[0].recv_offset = 50; },
       "50 bytes at offset 0 is sent, 50 bytes at offset 50 is expected"},
      {[](PhaseTable& t) { t.entries[0].recv_partner = 2; },
       "phase 0, rank 0 -> rank 1: 50 bytes at offset 0 is sent, nothing is expected"},
      {[](PhaseTable& t) {
         t.entries[0].recv_partner = no_rank;
         t.entries.push_back({.phase = 1, .recv_partner = 0, .recv_bytes = 50, .recv_offset = 0});
       },
       "phase 0, rank 0 -> rank 1: 50 bytes at offset 0 is sent, nothing is expected"},
      {[](PhaseTable& t) { t.entries.push_back({.phase = 1, .recv_partner = 0, .recv_bytes = 1}); },
       "nothing is sent, 1 bytes at offset 0 is expected"},
      {[](PhaseTable& t) { t.entries[1].send_offset = 0; }, "rank 1"},
      {[](PhaseTable& t) { t.entries[1].send_partner = no_rank; }, "rank 1"},
      {[](PhaseTable& t) { t.entries[1].send_offset = -7; }, "rank 1"},
      {[](PhaseTable& t) { t.entries[1].send_partner = 0; },
       "phase 1, rank 1 -> rank 0: the send belongs to no message"},
      {[](PhaseTable& t) { t.entries[1].send_partner = 99; },
       "phase 1, rank 1 -> rank 99: the send belongs to no message"},
      {[](PhaseTable& t) { t.entries[1].send_partner = 1; },
       "phase 1, rank 1 -> rank 1: the send belongs to no message"},
      {[](PhaseTable& t) { t.sources[0].bytes = 99; },
       "rank 0 -> rank 1: 100 bytes are sent, 99 are expected"},
      {[](PhaseTable& t) { t.sources.clear(); }, "rank 0 -> rank 1: 100 bytes are sent, 0 are expected"},
      {[](PhaseTable& t) { t.sources.push_back({2, 5}); },
       "rank 2 -> rank 1: 0 bytes are sent, 5 are expected"},
      {[](PhaseTable& t) { t.destinations[0].bytes = 0; },
       "the table of rank 1 does not list its destinations"},
      {[](PhaseTable& t) { t.rank = 0; }, "is made for rank 0 of"},
      {[](PhaseTable& t) { ++t.num_ranks; }, "is made for rank 1 of"},
      {[](PhaseTable& t) { ++t.num_phases; }, "the table of rank 1 has 3 phases, the ranks send in 2"},
      {[](PhaseTable& t) { t.entries[1].phase = 2; }, "the table of rank 1 has an entry in phase 2 of 2"},
      {[](PhaseTable& t) { std::swap(t.entries[0], t.entries[1]); }, "not in the order of phases"},
  };
  for (const auto& [spoil, text] : cases) {
    PhaseTable table = ring_table();
    ASSERT_EQ(table.entries.size(), 2U);
    if (test::world_rank() == 1) spoil(table);
    test::expect_same_error(ErrorCode::mismatch, text, [&] { mpi::Plan::from_table(MPI_COMM_WORLD, table); });
  }
  PhaseTable table = ring_table();
  if (test::world_rank() == 1) table.destinations[0].rank = test::world_size();
  test::expect_same_error(ErrorCode::invalid_argument, last,
                          [&] { mpi::Plan::from_table(MPI_COMM_WORLD, table); });
  EXPECT_NO_THROW(mpi::Plan::from_table(MPI_COMM_WORLD, ring_table()));
}

/// Rank 0 -> rank 2 with 8 bytes over rank 1, which gets them with 4 of its own and sends them on in two
/// phases.
PhaseTable forwarding_table() {
  const CommMatrix matrix =
      CommMatrix::from_messages(test::world_size(), std::vector<Message>{{0, 1, 4}, {0, 2, 8}});
  Schedule schedule(test::world_size());
  schedule.add(0, 1, std::vector<Piece>{{1, 0, 8}, {0, 0, 4}});
  schedule.begin_phase();
  schedule.add(1, 2, std::vector<Piece>{{1, 0, 5}});
  schedule.begin_phase();
  schedule.add(1, 2, std::vector<Piece>{{1, 5, 3}});
  return slice(matrix, schedule, test::world_rank());
}

TEST(FromTable, RefusesForwardingThatDoesNotFitTogether) {
  if (test::world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const std::vector<WrongTable> cases = {
      {[](PhaseTable& t) { std::swap(t.parts[0], t.parts[1]); },
       "phase 0, rank 0 -> rank 1: 12 bytes at offset 0 (8 bytes at offset 0 of rank 0 -> rank 2, 4 bytes at "
       "offset 0 of rank 0 -> rank 1) is sent, 12 bytes at offset 0 (4 bytes"},
      {[](PhaseTable& t) { t.entries[0].recv_parts = {}; },
       "of rank 0 -> rank 1) is sent, 12 bytes at offset 0 is expected"},
      {[](PhaseTable& t) { t.entries[0].recv_parts.count = 1; },
       "rank 1 has parts in phase 0 that do not add up"},
      {[](PhaseTable& t) { t.entries[0].recv_parts.begin = 3; },
       "rank 1 has parts in phase 0 that do not add up"},
      {[](PhaseTable& t) { t.parts[2].bytes = 6; }, "rank 1 has parts in phase 1 that do not add up"},
      {[](PhaseTable& t) { t.parts[2].offset = 1; },
       "phase 2: transfer rank 1 -> rank 2: message rank 0 -> rank 2: bytes [5, 6) are not at rank 1 but at "
       "rank 2"},
      {[](PhaseTable& t) { t.entries[1].phase = 0; }, "has 3 phases, the ranks send in 2"},
      {[](PhaseTable& t) { t.parts[2].src = 1; },
       "phase 1, rank 1 -> rank 2: the send belongs to no message"},
      {[](PhaseTable& t) { t.parts[3].dst = 77; },
       "phase 2, rank 1 -> rank 2: the send belongs to no message"},
      {[](PhaseTable& t) { t.entries[2].send_parts = {}; },
       "phase 2, rank 1 -> rank 2: the send belongs to no message"},
      {[](PhaseTable& t) { t.entries[2].send_partner = no_rank; }, "phases"},
  };
  for (const auto& [spoil, text] : cases) {
    PhaseTable table = forwarding_table();
    if (test::world_rank() == 1) spoil(table);
    test::expect_same_error(ErrorCode::mismatch, text, [&] { mpi::Plan::from_table(MPI_COMM_WORLD, table); });
  }
  EXPECT_NO_THROW(mpi::Plan::from_table(MPI_COMM_WORLD, forwarding_table()));
}

TEST(FromTable, RefusesTablesThatFitTogetherButDoNotDeliver) {
  if (test::world_size() < 2) GTEST_SKIP() << "needs two ranks";
  PhaseTable table = ring_table();  // rank 0 -> rank 1: the first half twice, the second never
  if (test::world_rank() == 0) table.entries[1].send_offset = 0;
  if (test::world_rank() == 1) table.entries[1].recv_offset = 0;
  test::expect_same_error(ErrorCode::mismatch, "rank 0 -> rank 1",
                          [&] { mpi::Plan::from_table(MPI_COMM_WORLD, table); });
  table = ring_table();  // nor the second half at all
  if (test::world_rank() == 0) table.entries[1].send_partner = no_rank;
  if (test::world_rank() == 1) table.entries[1].recv_partner = no_rank;
  test::expect_same_error(ErrorCode::mismatch, "rank 0 -> rank 1",
                          [&] { mpi::Plan::from_table(MPI_COMM_WORLD, table); });
}

}  // namespace
}  // namespace nuice
