// SPDX-License-Identifier: BSD-3-Clause
// Plan::follow(): after any changes the plan is right as a whole, what has not changed mostly stays where
// it was, and the plan before can go on.
#include <algorithm>
#include <map>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using Sizes = std::map<std::pair<Rank, Rank>, Bytes>;

/// However small the matrix is, no rank gathers it.
const mpi::PlanOptions in_pairs = {.scheduler = "distributed_coloring",
                                   .planning = mpi::Planning::distributed,
                                   .distributed = {.gather_bytes = 0}};

std::vector<Partner> row_of(const Sizes& sizes) {
  std::vector<Partner> row;
  for (const auto& [pair, bytes] : sizes)
    if (pair.first == test::world_rank()) row.push_back({pair.second, bytes});
  return row;
}

CommMatrix matrix_of(const Sizes& sizes) {
  std::vector<Message> messages;
  for (const auto& [pair, bytes] : sizes) messages.push_back({pair.first, pair.second, bytes});
  return CommMatrix::from_messages(test::world_size(), messages);
}

/// The same on all ranks.
void change(Sizes& sizes, int count, Bytes most_units, Random& random) {
  const auto n = static_cast<std::uint64_t>(test::world_size());
  for (int i = 0; i < count; ++i) {
    const std::pair pair{static_cast<Rank>(random.below(n)), static_cast<Rank>(random.below(n))};
    const auto units = static_cast<Bytes>(random.below(static_cast<std::uint64_t>(most_units) + 1));
    if (units == 0)
      sizes.erase(pair);
    else
      sizes[pair] = 100 * units;
  }
}

/// Gathered and looked at as a whole, and an exchange by it.
void expect_right(mpi::Plan& plan, const Sizes& sizes) {
  const CommMatrix matrix = matrix_of(sizes);
  EXPECT_EQ(std::vector<Partner>(plan.sources().begin(), plan.sources().end()),
            test::column_of(matrix, test::world_rank()));
  EXPECT_EQ(check_alone(plan.table(), one_port), std::nullopt);
  const mpi::Plan whole = mpi::Plan::from_table(MPI_COMM_WORLD, plan.table());
  EXPECT_EQ(plan.info().num_messages, whole.info().num_messages);
  EXPECT_EQ(plan.info().num_phases, whole.info().num_phases);
  EXPECT_EQ(plan.info().phase_bytes, whole.info().phase_bytes);
  EXPECT_EQ(plan.info().bounds.max_port_bytes, whole.info().bounds.max_port_bytes);
  test::BoundPlan bound(plan);
  bound.exchange_once();
}

TEST(Follow, IsRightAfterManyChanges) {
  for (const Bytes most_units : {1, 9}) {
    Random random(static_cast<std::uint64_t>(most_units));
    Sizes sizes;
    change(sizes, 3 * test::world_size(), most_units, random);
    mpi::Plan plan(MPI_COMM_WORLD, row_of(sizes), in_pairs);
    for (int step = 0; step < 12; ++step) {
      SCOPED_TRACE("step " + std::to_string(step) + ", up to " + std::to_string(most_units) + " units");
      change(sizes, 1 + step % 5, most_units, random);
      plan = plan.follow(row_of(sizes));
      expect_right(plan, sizes);
      EXPECT_EQ(plan.info().scheduler, in_pairs.scheduler);
    }
  }
}

TEST(Follow, KeepsWhatHasNotChanged) {
  const Rank n = test::world_size();
  Sizes sizes;
  for (Rank src = 0; src < n; ++src)
    for (Rank far = 1; far <= std::min(n - 1, 5); ++far) sizes[{src, (src + far) % n}] = 64;
  const mpi::Plan first(MPI_COMM_WORLD, row_of(sizes), in_pairs);
  EXPECT_EQ(first.info().num_kept, 0U);
  const mpi::Plan same = first.follow(row_of(sizes));
  EXPECT_EQ(same.table(), first.table());
  EXPECT_EQ(same.info().num_kept, same.info().num_messages);
  if (n < 3) return;
  sizes.erase({0, 1});
  mpi::Plan less = same.follow(row_of(sizes));
  EXPECT_EQ(less.info().num_kept, less.info().num_messages);
  expect_right(less, sizes);
  sizes[{0, 1}] = 64;  // whose place is free at both ends
  mpi::Plan again = less.follow(row_of(sizes));
  EXPECT_EQ(again.info().num_kept + 1, again.info().num_messages);
  expect_right(again, sizes);
}

TEST(Follow, KeepsThePiecesOfCutMessages) {
  mpi::PlanOptions options = in_pairs;
  options.phase_cost_bytes = 0;
  Sizes sizes;
  const CommMatrix matrix = test::with_one_large_message(test::world_size());
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    sizes[{matrix.src(id), matrix.dst(id)}] = matrix.bytes(id);
  const mpi::Plan first(MPI_COMM_WORLD, row_of(sizes), options);
  const mpi::Plan same = first.follow(row_of(sizes));
  EXPECT_EQ(same.table(), first.table());
  EXPECT_EQ(same.info().num_kept, same.info().num_messages);
  if (test::world_size() < 3) return;
  for (const Bytes bytes : {20'000, 900, 1'000'000, 9'000}) {  // more pieces than before, fewer, very many
    SCOPED_TRACE(bytes);
    sizes[{0, 1}] = bytes;
    mpi::Plan next = first.follow(row_of(sizes));
    expect_right(next, sizes);
  }
}

TEST(Follow, LeavesThePlanBeforeAsItIs) {
  Random random(3);
  Sizes sizes;
  change(sizes, 3 * test::world_size(), 4, random);
  mpi::Plan first(MPI_COMM_WORLD, row_of(sizes), in_pairs);
  const PhaseTable table = first.table();
  test::BoundPlan bound(first);
  bound.exchange.start();
  Sizes other = sizes;
  change(other, 4, 4, random);
  mpi::Plan second = first.follow(row_of(other));
  bound.exchange.wait();
  bound.expect_received(0);
  EXPECT_EQ(first.table(), table);
  first.free();
  expect_right(second, other);
}

TEST(Follow, PlansAnewWhereNothingIsPassedOn) {
  Random random(5);
  Sizes sizes;
  change(sizes, 2 * test::world_size(), 4, random);
  Sizes more = sizes;
  change(more, 3, 4, random);
  for (const std::string name : {"coloring", "rs_n", "ac", "auto"}) {
    const mpi::PlanOptions options{.scheduler = name, .seed = 7};
    const mpi::Plan first(MPI_COMM_WORLD, row_of(sizes), options);
    const mpi::Plan second = first.follow(row_of(more));
    EXPECT_EQ(second.info().scheduler, first.info().scheduler);
    EXPECT_EQ(second.info().executor, first.info().executor);
    EXPECT_EQ(second.info().num_kept, 0U);
    if (name != "auto") {
      EXPECT_EQ(second.table(), mpi::Plan(MPI_COMM_WORLD, row_of(more), options).table());
    }
  }
}

TEST(Follow, GathersNoMoreOnceAMatrixHasGrown) {
  const Rank n = test::world_size();
  if (n < 3) return;
  mpi::PlanOptions options = in_pairs;
  options.distributed.gather_bytes = Bytes{24} * n;  // one message a rank
  Sizes sizes;
  for (Rank src = 0; src < n; ++src) sizes[{src, (src + 1) % n}] = 64;
  mpi::Plan plan(MPI_COMM_WORLD, row_of(sizes), options);
  sizes[{0, 2}] = 64;
  plan = plan.follow(row_of(sizes));
  EXPECT_EQ(plan.info().num_kept, 0U);
  expect_right(plan, sizes);
  sizes[{1, 0}] = 64;
  plan = plan.follow(row_of(sizes));
  EXPECT_GT(plan.info().num_kept, 0U);
  expect_right(plan, sizes);
}

TEST(Follow, IsWatchedAsThePlanBefore) {
  const std::vector<Partner> row = {{(test::world_rank() + 1) % test::world_size(), 40}};
  mpi::PlanOptions options = in_pairs;
  options.watchdog_s = 30;
  mpi::Plan first(MPI_COMM_WORLD, row, options);
  test::BoundPlan bound(first);  // which keeps its communicator
  bound.exchange.start();
  for (int i = 0; i < 3; ++i) {
    mpi::Plan second = first.follow(row);
    EXPECT_EQ(second.table(), first.table());
    test::BoundPlan again(second);
    again.exchange_once();
  }
  bound.exchange.wait();
  bound.expect_received(0);
}

TEST(Follow, TakesMessagesToItselfAndPartnersListedTwice) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  const Rank next = (me + 1) % n;
  const std::vector<Partner> row = {{next, 40}, {me, 8}, {next, 24}};
  const mpi::Plan first(MPI_COMM_WORLD, std::vector<Partner>{{next, 40}}, in_pairs);
  mpi::Plan second = first.follow(row);
  EXPECT_EQ(std::vector<Partner>(second.destinations().begin(), second.destinations().end()), row);
  test::BoundPlan bound(second);
  bound.exchange_once();
}

TEST(Follow, FailsOnAllRanksAlike) {
  const Rank n = test::world_size();
  const bool is_last = test::world_rank() == n - 1;
  const std::vector<Partner> row = {{(test::world_rank() + 1) % n, 40}};
  mpi::Plan first(MPI_COMM_WORLD, row, in_pairs);
  mpi::Plan second(MPI_COMM_WORLD, row, in_pairs);
  test::expect_same_error(ErrorCode::invalid_argument, "rank " + std::to_string(n - 1) + " -> rank -4",
                          [&] { first.follow(is_last ? std::vector<Partner>{{-4, 5}} : row); });
  if (n > 1) {
    test::expect_same_error(ErrorCode::mismatch, "follow() of plan",
                            [&] { (is_last ? second : first).follow(row); });
    test::expect_same_error(ErrorCode::mismatch, "the making of plan", [&] {
      if (is_last)
        mpi::Plan(MPI_COMM_WORLD, row, in_pairs);
      else
        first.follow(row);
    });
  }
  EXPECT_EQ(first.follow(row).table(), first.table());  // all the same after that
  if (is_last) first.free();
  test::expect_same_error(ErrorCode::state, "freed", [&] { first.follow(row); });
}

/// Some tries are other schedules, which are for one matrix.
TEST(Follow, TriesNothingOfThePlanBefore) {
  const Rank n = test::world_size();
  const auto row = [&](Bytes bytes, Rank without) {
    std::vector<Partner> all;
    for (Rank rank = 0; rank < n; ++rank)
      if (rank != without && rank != test::world_rank()) all.push_back({rank, bytes});
    return all;
  };
  const mpi::PlanOptions options{.hosts = "1"};
  const mpi::Plan first(MPI_COMM_WORLD, row(100, -1), options);
  mpi::Plan second = first.follow(row(200, n - 1));
  test::BoundPlan bound(second);
  for (unsigned round = 0; round < 40; ++round) bound.exchange_once(round);
}

class FollowOn : public ::testing::Test {
 protected:
  /// Of the others, in reversed order.
  static MPI_Comm without(Rank gone) {
    MPI_Comm comm = MPI_COMM_NULL;
    const Rank me = test::world_rank();
    MPI_Comm_split(MPI_COMM_WORLD, me == gone ? MPI_UNDEFINED : 0, -me, &comm);
    return comm;
  }
  /// Of a rank that is still there.
  static Rank number_without(Rank gone, Rank rank) { return test::world_size() - 1 - rank - (rank < gone); }
};

TEST_F(FollowOn, MakesThePlanOfThoseThatAreLeft) {
  const Rank n = test::world_size();
  Random random(7);
  Sizes sizes;
  change(sizes, 4 * n, 5, random);
  const std::string half = n > 1 ? "hosts=2 " : "";
  std::string list = "hosts=0";
  for (Rank rank = 1; rank < n; ++rank) list += "," + std::to_string(rank % 2);
  for (const std::string& text :
       {std::string("scheduler=coloring"), std::string("scheduler=lp"),
        "scheduler=distributed_coloring planning=distributed distributed.gather=0 " + half,
        "scheduler=coloring executor=phased " + half, "scheduler=coloring " + (n > 1 ? list : ""),
        std::string("hosts=1")}) {
    SCOPED_TRACE(text);
    const mpi::PlanOptions options = mpi::PlanOptions::parse(text);
    const mpi::Plan first(MPI_COMM_WORLD, row_of(sizes), options);
    for (const Rank gone : {0, n / 2, n - 1}) {
      MPI_Comm comm = without(gone);
      if (comm == MPI_COMM_NULL) continue;
      std::vector<Partner> left;
      for (const auto& [rank, bytes] : row_of(sizes))
        if (rank != gone) left.push_back({number_without(gone, rank), bytes});
      mpi::Plan second = first.follow_on(comm);
      EXPECT_EQ(std::vector<Partner>(second.destinations().begin(), second.destinations().end()), left);
      EXPECT_EQ(second.info().scheduler, first.info().scheduler);
      if (options.scheduler != "auto" && options.hosts == "auto") {
        EXPECT_EQ(second.table(), mpi::Plan(comm, left, options).table());
      }
      test::BoundPlan bound(second);
      for (unsigned round = 0; round < 3; ++round) bound.exchange_once(round);
      bound.exchange.free();
      second.free();
      MPI_Comm_free(&comm);
    }
  }
}

TEST_F(FollowOn, FailsOnAllRanksAlike) {
  const Rank n = test::world_size();
  const bool is_last = test::world_rank() == n - 1;
  const std::vector<Partner> row = {{(test::world_rank() + 1) % n, 40}};
  mpi::Plan first(MPI_COMM_WORLD, row, in_pairs);
  mpi::Plan second(MPI_COMM_WORLD, row, in_pairs);
  test::expect_same_error(ErrorCode::invalid_argument, "MPI_COMM_NULL",
                          [&] { first.follow_on(MPI_COMM_NULL); });
  test::expect_same_error(ErrorCode::limit, "no room", [&] {
    first.follow_on(MPI_COMM_WORLD, attempt(test::world_rank(), [&] {
                      if (is_last) throw Error(ErrorCode::limit, "no room");
                    }));
  });
  if (n > 1) {
    test::expect_same_error(ErrorCode::mismatch, "follow_on() of plan",
                            [&] { (is_last ? second : first).follow_on(MPI_COMM_WORLD); });
    MPI_Comm apart = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, is_last ? 1 : 0, 0, &apart);
    {
      const mpi::Plan of_some(apart, {}, in_pairs);
      test::expect_same_error(ErrorCode::invalid_argument, "does not belong to the plan",
                              [&] { of_some.follow_on(MPI_COMM_WORLD); });
    }
    MPI_Comm_free(&apart);
  }
  EXPECT_EQ(first.follow_on(MPI_COMM_WORLD).table(), first.table());
  if (is_last) first.free();
  test::expect_same_error(ErrorCode::state, "freed", [&] { first.follow_on(MPI_COMM_WORLD); });
}

}  // namespace
}  // namespace nuice
