// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts on MPI give all members the root's bytes, and other ranks none; wrong options fail alike everywhere.
#include <set>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/mpi/broadcast.hpp"
#include "nuice/plan/broadcaster.hpp"

namespace nuice {
namespace {

using mpi::BroadcastOptions;
using mpi::BroadcastPlan;
using Buffer = std::vector<std::byte>;

/// The root's message; poison elsewhere, and a guard behind it.
Buffer buffer_of(Rank rank, Rank root, Bytes bytes, unsigned round) {
  Buffer buffer(static_cast<std::size_t>(bytes) + test::guard_bytes, test::poison);
  for (Bytes i = 0; rank == root && i < bytes; ++i)
    buffer[static_cast<std::size_t>(i)] = test::payload_byte(root, root, i, round);
  return buffer;
}

std::vector<Rank> members(const BroadcastOptions& options) {
  std::vector<Rank> group = options.group.value_or(std::vector<Rank>{});
  for (Rank rank = 0; !options.group && rank < test::world_size(); ++rank) group.push_back(rank);
  return group;
}

void expect_roots_bytes(const BroadcastOptions& options) {
  const auto rank = test::world_rank();
  const bool takes_part = rank == options.root || !options.group ||
                          std::ranges::find(*options.group, rank) != options.group->end();
  const BroadcastSchedule schedule =
      make_broadcast(options.broadcaster, test::world_size(), options.root, members(options));
  BroadcastPlan plan(MPI_COMM_WORLD, options);
  EXPECT_EQ(plan.table(), slice(schedule, rank));
  EXPECT_EQ(plan.info().num_steps, schedule.steps.size());
  Buffer buffer = buffer_of(rank, options.root, options.bytes, 0);
  mpi::Exchange broadcast = plan.bind(buffer.data(), options.bytes);
  for (unsigned round = 0; round < 3; ++round) {  // no barrier between them: fast ranks run ahead
    const Buffer fresh = buffer_of(rank, options.root, options.bytes, round);
    std::ranges::copy(fresh, buffer.begin());
    broadcast.start();
    if (round == 1) {
      while (!broadcast.test()) std::this_thread::yield();
    } else {
      broadcast.wait();
    }
    const Buffer expected = buffer_of(takes_part ? options.root : rank, options.root, options.bytes, round);
    EXPECT_EQ(buffer, expected) << round;
  }
}

TEST(Broadcast, GivesAllMembersTheRootsBytes) {
  const Rank n = test::world_size();
  std::vector<Rank> odd;  // in descending order; the root may be outside
  for (Rank rank = n - 1; rank >= 0; --rank)
    if (rank % 2 == 1) odd.push_back(rank);
  for (const Broadcaster& row : broadcasters())
    for (const std::string executor : {"phased", "async"})
      for (const Rank root : std::set<Rank>{0, n / 2, n - 1})
        for (const Bytes bytes : {0, 1, 100'000}) {  // on both sides of every MPI's eager limit
          SCOPED_TRACE(std::string(row.name) + " from " + std::to_string(root) + ", " +
                       std::to_string(bytes));
          BroadcastOptions options{
              .root = root, .bytes = bytes, .broadcaster = std::string(row.name), .executor = executor};
          expect_roots_bytes(options);
          options.group = odd;
          expect_roots_bytes(options);
          options.group = {n - 1};
          expect_roots_bytes(options);
          options.group = std::vector<Rank>{};
          expect_roots_bytes(options);
        }
}

TEST(Broadcast, TellsWhatItKnows) {
  const Rank n = test::world_size();
  const BroadcastPlan plan(MPI_COMM_WORLD, {.root = n - 1, .bytes = 7, .group = {{0}}, .broadcaster = "lib"});
  EXPECT_EQ(plan.info().broadcaster, "lib");
  EXPECT_EQ(plan.info().root, n - 1);
  EXPECT_EQ(plan.info().bytes, 7);
  EXPECT_EQ(plan.info().num_members, n == 1 ? 1 : 2);
  EXPECT_EQ(plan.info().num_steps, n == 1 ? 0U : 1U);
  EXPECT_GT(plan.info().plan_s, 0);
}

TEST(Broadcast, RanksOutsideTheGroupNeedNoBufferAndTouchNone) {
  const Rank rank = test::world_rank();
  BroadcastPlan plan(MPI_COMM_WORLD, {.bytes = 8, .group = {{0}}});
  Buffer buffer = buffer_of(rank, 0, 8, 0);
  const Buffer before = buffer;
  mpi::Exchange broadcast = plan.bind(rank == 0 ? buffer.data() : nullptr, rank == 0 ? 8 : 0);
  broadcast.start();
  broadcast.wait();
  EXPECT_EQ(buffer, before);
}

TEST(Broadcast, SeveralAreUnderWayTogether) {
  BroadcastPlan plan(MPI_COMM_WORLD, {.bytes = 50'000});
  Buffer first = buffer_of(test::world_rank(), 0, 50'000, 1);
  Buffer second = buffer_of(test::world_rank(), 0, 50'000, 2);
  mpi::Exchange one = plan.bind(first.data(), 50'000);
  mpi::Exchange two = plan.bind(second.data(), 50'000);
  plan.free();  // the exchanges go on
  one.start();
  two.start();
  bool one_done = false;
  bool two_done = false;
  while (!one_done || !two_done) {
    if (!two_done) two_done = two.test();
    if (!one_done) one_done = one.test();
    std::this_thread::yield();
  }
  EXPECT_EQ(first, buffer_of(0, 0, 50'000, 1));
  EXPECT_EQ(second, buffer_of(0, 0, 50'000, 2));
  test::expect_error(ErrorCode::state, "the plan was freed", [&] { (void)plan.info(); });
  test::expect_error(ErrorCode::state, "wait(): the exchange was not started", [&] { one.wait(); });
}

void expect_refused(ErrorCode code, const std::string& text, const BroadcastOptions& options) {
  test::expect_same_error(code, text, [&] { BroadcastPlan(MPI_COMM_WORLD, options); });
}

TEST(BroadcastErrors, WrongOptionsAreNamed) {
  const Rank n = test::world_size();
  const std::string there_are = "there are " + std::to_string(n) + " ranks";
  const auto invalid = ErrorCode::invalid_argument;
  expect_refused(invalid, "the root is rank " + std::to_string(n) + ", " + there_are, {.root = n});
  expect_refused(invalid, "the root is rank -1, " + there_are, {.root = -1});
  expect_refused(invalid, "the member is rank " + std::to_string(n), {.group = {{n}}});
  if (n > 1) expect_refused(invalid, "rank 0 is twice in the group", {.group = {{0, 0}}});
  expect_refused(invalid, "the group has " + std::to_string(n + 1) + " members",
                 {.group = std::vector<Rank>(static_cast<std::size_t>(n) + 1, 0)});
  expect_refused(invalid, "BroadcastOptions::bytes is negative: -1", {.bytes = -1});
  expect_refused(ErrorCode::limit, "more than max_bytes", {.bytes = max_bytes + 1});
  expect_refused(invalid, "unknown broadcast \"tree\"; known: lib, reb", {.broadcaster = "tree"});
  expect_refused(invalid,
                 "a broadcast takes the executor phased, or one that sends all at once, not pairwise",
                 {.executor = "pairwise"});
  test::expect_same_error(invalid, "MPI_COMM_NULL", [] { BroadcastPlan(MPI_COMM_NULL, {}); });
}

TEST(BroadcastErrors, OptionsThatDifferNameTwoRanksAndBothValues) {
  const Rank n = test::world_size();
  if (n < 2) GTEST_SKIP() << "one rank cannot differ";
  const std::string last = "rank " + std::to_string(n - 1);
  const auto expect = [&](const std::string& text, const BroadcastOptions& by_last_rank,
                          const BroadcastOptions& by_others = {.group = {{0, 1}}}) {
    const bool is_last = test::world_rank() == n - 1;
    expect_refused(ErrorCode::mismatch, "option " + text + " on " + last, is_last ? by_last_rank : by_others);
  };
  expect("root differs: 0 on rank 0, 1", {.root = 1, .group = {{0, 1}}});
  expect("bytes differs: 0 on rank 0, 9", {.bytes = 9, .group = {{0, 1}}});
  expect("broadcaster differs: reb on rank 0, lib", {.group = {{0, 1}}, .broadcaster = "lib"});
  expect("executor differs: phased on rank 0, async", {.group = {{0, 1}}, .executor = "async"});
  expect("group differs: 0 1 on rank 0, not given", {});
  expect("group differs: 0 1 on rank 0, 0", {.group = {{0}}});
  expect("group differs: 0 on rank 0, 0 1", {.group = {{1, 0}}}, {.group = {{0}}});
  EXPECT_NO_THROW(BroadcastPlan(
      MPI_COMM_WORLD,
      {.group = test::world_rank() % 2 == 0 ? std::vector<Rank>{0, 1} : std::vector<Rank>{1, 0}}));
}

TEST(BroadcastErrors, WrongBuffersNameTheRank) {
  const Rank n = test::world_size();
  if (n < 2) GTEST_SKIP() << "needs two ranks";
  const bool is_last = test::world_rank() == n - 1;
  const std::string who = "rank " + std::to_string(n - 1) + ": the buffer of the broadcast ";
  BroadcastPlan plan(MPI_COMM_WORLD, {.bytes = 8});
  Buffer buffer(8);
  test::expect_same_error(ErrorCode::invalid_argument, who + "is null",
                          [&] { plan.bind(is_last ? nullptr : buffer.data(), 8); });
  test::expect_same_error(ErrorCode::invalid_argument, who + "has 7 bytes, the message has 8",
                          [&] { plan.bind(buffer.data(), is_last ? 7 : 8); });
  EXPECT_NO_THROW(plan.bind(buffer.data(), 8));
}

}  // namespace
}  // namespace nuice
