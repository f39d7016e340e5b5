// SPDX-License-Identifier: BSD-3-Clause
// Messages are handed over one by one as they land, each once and whole; and a rank
// that waits in vain says for which rank.
#include <chrono>
#include <set>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

std::vector<mpi::PlanOptions> all_walks() {
  return {{.scheduler = "ac", .executor = "async"},
          {.scheduler = "ac", .executor = "async", .async = {.max_sends = 2}},
          {.scheduler = "rs_nh", .executor = "async", .async = {.max_sends = 1}},
          {.scheduler = "rs_nh", .executor = "phased"},
          {.scheduler = "coloring", .executor = "phased", .watchdog_s = 60},
          {.scheduler = "rex", .executor = "phased"},
          {.scheduler = "rex", .executor = "pairwise", .watchdog_s = 60},
          {.scheduler = "rs_nh", .executor = "depend", .hosts = "1"},
          {.scheduler = "coloring", .executor = "depend", .hosts = "1", .watchdog_s = 60}};
}

/// Every rank to every rank, itself included, some above every eager limit.
std::vector<Partner> row() {
  std::vector<Partner> destinations;
  for (Rank dst = test::world_size(); dst-- > 0;)
    destinations.push_back({dst, (dst + test::world_rank()) % 4 == 3 ? 0 : 50 + (dst % 3) * 40'000});
  return destinations;
}

struct Follower {
  test::BoundPlan& bound;
  unsigned round;
  std::set<std::size_t> seen = {};

  void expect_whole(const mpi::Arrival& arrival) {
    ASSERT_LT(arrival.index, bound.plan.sources().size());
    EXPECT_EQ(arrival.source, bound.plan.sources()[arrival.index]);
    EXPECT_TRUE(seen.insert(arrival.index).second) << "twice from rank " << arrival.source.rank;
    const auto expected = test::payload_expected(test::world_rank(), {&arrival.source, 1}, round);
    EXPECT_EQ(arrival.data.data(), bound.receive[arrival.index].data());
    EXPECT_TRUE(std::ranges::equal(arrival.data, std::span(expected[0]).first(arrival.data.size())))
        << "from rank " << arrival.source.rank;
  }
};

TEST(Arrivals, EveryMessageIsHandedOverOnceAndWhole) {
  for (const mpi::PlanOptions& options : all_walks()) {
    SCOPED_TRACE(options.scheduler + ", " + std::string(options.executor));
    mpi::Plan plan(MPI_COMM_WORLD, row(), options);
    test::BoundPlan bound(plan);
    for (unsigned round = 0; round < 3; ++round) {
      bound.refill(round);
      Follower follower{bound, round};
      bound.exchange.start();
      if (round % 3 == 0) {
        while (const auto arrival = bound.exchange.next()) follower.expect_whole(*arrival);
      } else if (round % 3 == 1) {
        while (bound.exchange.is_under_way()) {
          if (const auto arrival = bound.exchange.poll()) follower.expect_whole(*arrival);
          std::this_thread::yield();
        }
      } else {  // mixed: what wait() and test() complete is not handed over
        if (const auto arrival = bound.exchange.poll()) follower.expect_whole(*arrival);
        if (bound.exchange.is_under_way() && !bound.exchange.test()) {
          if (const auto arrival = bound.exchange.next()) follower.expect_whole(*arrival);
        }
        if (bound.exchange.is_under_way()) bound.exchange.wait();
      }
      EXPECT_FALSE(bound.exchange.is_under_way());
      if (round % 3 < 2) {
        EXPECT_EQ(follower.seen.size(), plan.sources().size());
      }
      bound.expect_received(round);
    }
    test::expect_error(ErrorCode::state, "next(): the exchange was not started",
                       [&] { bound.exchange.next(); });
    test::expect_error(ErrorCode::state, "poll(): the exchange was not started",
                       [&] { bound.exchange.poll(); });
  }
}

TEST(Arrivals, BackwardsTheyAreInTheOrderOfTheDestinations) {
  mpi::Plan plan(MPI_COMM_WORLD, row(), {.scheduler = "coloring"});
  const test::Blocks send = test::payload_to_send(plan.table().rank, plan.sources());
  test::Blocks receive = test::poisoned(plan.destinations());
  auto exchange =
      plan.bind(test::send_buffers(send), test::receive_buffers(receive), mpi::Direction::backwards);
  exchange.start();
  std::size_t count = 0;
  exchange.wait_each([&](Partner source, std::span<std::byte> data) {
    const auto expected = test::payload_expected(test::world_rank(), {&source, 1});
    EXPECT_TRUE(std::ranges::equal(data, std::span(expected[0]).first(data.size())));
    ++count;
  });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(count),
            std::ranges::count_if(plan.destinations(), [](const Partner& p) { return p.bytes > 0; }));
}

TEST(Watchdog, NamesTheRankThatDoesNotCome) {
  if (test::world_size() != 4) GTEST_SKIP() << "on 4 ranks";
  const bool is_late = test::world_rank() == 2;
  for (const std::string executor : {"async", "phased", "depend"}) {
    SCOPED_TRACE(std::string(executor));
    const mpi::PlanOptions options{
        .scheduler = "coloring", .executor = executor, .hosts = "1", .watchdog_s = 0.15};
    std::vector<Partner> destinations = row();
    for (Partner& partner : destinations) partner.bytes = 200'000;
    MPI_Barrier(MPI_COMM_WORLD);  // planning is watched too
    mpi::Plan plan(MPI_COMM_WORLD, destinations, options);
    test::BoundPlan bound(plan);
    bound.exchange.start();
    bound.exchange.wait();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_late) {
      bound.exchange.start();
      test::expect_error(ErrorCode::timeout,
                         executor == "async" ? "it waits for rank 2" : "it waits for rank",
                         [&] { bound.exchange.wait(); });
      test::expect_error(ErrorCode::state, "given up", [&] { bound.exchange.start(); });
    }
    MPI_Barrier(MPI_COMM_WORLD);  // the late one is here, but its exchange was given up
  }
}

TEST(Watchdog, LeavesAloneWhoIsOnlySlow) {
  if (test::world_size() < 2) GTEST_SKIP() << "needs two ranks";
  MPI_Barrier(MPI_COMM_WORLD);  // planning is watched too
  mpi::Plan plan(MPI_COMM_WORLD, row(), {.scheduler = "coloring", .watchdog_s = 0.5});
  test::BoundPlan bound(plan);
  bound.exchange.start();
  // This rank looks rarely: the time between two looks is its own.
  if (test::world_rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(150));
  while (!bound.exchange.test()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  bound.expect_received(0);
}

TEST(Watchdog, LeavesAloneWhoLooksRarelyAndWaitsLong) {
  if (test::world_size() < 2) GTEST_SKIP() << "needs two ranks";
  MPI_Barrier(MPI_COMM_WORLD);  // planning is watched too
  mpi::Plan plan(MPI_COMM_WORLD, row(), {.scheduler = "coloring", .watchdog_s = 0.1});
  test::BoundPlan bound(plan);
  // Twenty looks before the last rank has begun, with more than a tenth of the limit between two.
  if (test::world_rank() == test::world_size() - 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(240));
  bound.exchange.start();
  while (!bound.exchange.test()) std::this_thread::sleep_for(std::chrono::milliseconds(12));
  bound.expect_received(0);
}

}  // namespace
}  // namespace nuice
