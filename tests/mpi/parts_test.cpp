// SPDX-License-Identifier: BSD-3-Clause
// Messages that are ready one by one, from several threads; and waiting for several exchanges. Registered
// twice: MPI with one thread, and with any.
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/core/random.hpp"
#include "nuice/mpi/alltoallv.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/mpi/observer.hpp"
#include "nuice/mpi/several.hpp"

namespace nuice {
namespace {

using mpi::alltoallv_init;
using mpi::Exchange;
using mpi::in_place;
using mpi::neighbor_alltoallv_init;

const mpi::PlanOptions by_parts = {.parts = true};

/// A block for each rank, of which those from s to d with (s + d) % 3 == 1 are empty.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<double> data;

  Blocks(Rank n, Rank me, int each) {
    int at = 0;
    for (Rank i = 0; i < n; ++i) {
      counts.push_back((i + me) % 3 == 1 ? 0 : each + i + me);
      displs.push_back(at);
      at += counts.back();
    }
    data.assign(static_cast<std::size_t>(at), -1);
  }
  std::span<double> block(std::size_t i) {
    return std::span(data).subspan(static_cast<std::size_t>(displs[i]), static_cast<std::size_t>(counts[i]));
  }
  void fill(std::size_t i, double value) { std::ranges::fill(block(i), value); }
};

double value_of(Rank src, Rank dst, int round) { return 100.0 * src + dst + 0.125 * round; }

TEST(Parts, ThreadsPackWhileOthersAreOnTheirWay) {
  const Rank n = test::world_size();
  const Rank me = test::world_rank();
  for (const int each : {1, 40000}) {
    Blocks out(n, me, each);
    Blocks in(n, me, each);
    Exchange exchange = alltoallv_init(MPI_COMM_WORLD, out.data, out.counts, out.displs, in.data, in.counts,
                                       in.displs, by_parts);
    for (int round = 0; round < 5; ++round) {
      exchange.start();
      std::atomic<Rank> next = 0;
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
          for (Rank k = next++; k < n; k = next++) {
            const Rank dst = round % 3 == 0 ? k : n - 1 - k;
            const auto i = static_cast<std::size_t>(dst);
            out.fill(i, value_of(me, dst, round));
            exchange.ready(i);
          }
        });
      if (round % 2 == 0) exchange.wait();
      for (std::thread& thread : threads) thread.join();
      if (round % 2 == 1) {
        for (std::size_t i = 0; i < in.counts.size(); ++i)
          while (!exchange.arrived(i)) {
          }
        exchange.wait();
      }
      for (Rank src = 0; src < n; ++src)
        for (const double value : in.block(static_cast<std::size_t>(src)))
          ASSERT_EQ(value, value_of(src, me, round));
    }
  }
}

/// Rank 0's message is here although the others' are not ready.
TEST(Parts, NoneWaitsForAnother) {
  const Rank n = test::world_size();
  const std::vector<int> ones(static_cast<std::size_t>(n), 1);
  std::vector<int> places(ones.size());
  std::iota(places.begin(), places.end(), 0);
  std::vector<double> sent(ones.size(), test::world_rank());
  std::vector<double> received(ones.size(), -1);
  Exchange exchange = alltoallv_init(MPI_COMM_WORLD, sent, ones, places, received, ones, places, by_parts);
  exchange.start();
  if (test::world_rank() == 0)
    for (std::size_t i = 0; i < ones.size(); ++i) exchange.ready(i);
  while (!exchange.arrived(0)) {
  }
  EXPECT_EQ(received[0], 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::world_rank() != 0)
    for (std::size_t i = 0; i < ones.size(); ++i) exchange.ready(i);
  std::vector<std::size_t> landed;
  while (const auto arrival = exchange.next()) landed.push_back(arrival->index);
  std::ranges::sort(landed);
  EXPECT_EQ(landed.size(), ones.size());
  for (std::size_t i = 0; i < ones.size(); ++i) EXPECT_EQ(received[i], static_cast<double>(i));
}

/// As with MPI's partitioned communication: a thread that is late with an
/// empty message finds the exchange running.
TEST(Parts, WaitEndsAfterTheLastReady) {
  const Rank n = test::world_size();
  Blocks out(n, test::world_rank(), 2);
  Blocks in(n, test::world_rank(), 2);
  Exchange exchange = alltoallv_init(MPI_COMM_WORLD, out.data, out.counts, out.displs, in.data, in.counts,
                                     in.displs, by_parts);
  std::vector<std::size_t> empty;
  for (std::size_t i = 0; i < out.counts.size(); ++i)
    if (out.counts[i] == 0) empty.push_back(i);
  for (int round = 0; round < 2; ++round) {
    exchange.start();
    std::string error;
    std::atomic<std::size_t> num_ready = 0;
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      try {
        for (const std::size_t i : empty) {
          ++num_ready;
          exchange.ready(i);
        }
      } catch (const Error& e) {
        error = e.what();
      }
    });
    for (std::size_t i = 0; i < out.counts.size(); ++i)
      if (out.counts[i] > 0) exchange.ready(i);
    exchange.wait();
    EXPECT_EQ(num_ready, empty.size());
    late.join();
    EXPECT_EQ(error, "");
  }
}

/// Where both neighbours are one rank, the message leaves when both blocks are ready.
TEST(Parts, Neighbours) {
  const int size = test::world_size();
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  const std::array counts = {3, 3};
  const std::array places = {0, 3};
  std::array<double, 6> sent = {};
  std::array<double, 6> received = {};
  std::array<double, 6> expected = {};
  Exchange exchange = neighbor_alltoallv_init(ring, sent, counts, places, received, counts, places, by_parts);
  std::iota(sent.begin(), sent.end(), 10.0 * test::world_rank());
  exchange.start();
  exchange.ready(1);
  exchange.ready(0);
  exchange.wait();
  MPI_Neighbor_alltoallv(sent.data(), counts.data(), places.data(), MPI_DOUBLE, expected.data(),
                         counts.data(), places.data(), MPI_DOUBLE, ring);
  EXPECT_EQ(received, expected);
  MPI_Comm_free(&ring);
}

TEST(Parts, CallsOutOfOrder) {
  const Rank n = test::world_size();
  Blocks out(n, test::world_rank(), 2);
  Blocks in(n, test::world_rank(), 2);
  const auto make = [&](const mpi::PlanOptions& options) {
    return alltoallv_init(MPI_COMM_WORLD, out.data, out.counts, out.displs, in.data, in.counts, in.displs,
                          options);
  };
  Exchange exchange = make(by_parts);
  test::expect_error(ErrorCode::state, "ready(): the exchange was not started", [&] { exchange.ready(0); });
  exchange.start();
  const auto count = static_cast<std::size_t>(n);
  test::expect_error(ErrorCode::invalid_argument, "there is no message " + std::to_string(n),
                     [&] { exchange.ready(count); });
  test::expect_error(ErrorCode::invalid_argument, "there is no message ", [&] { exchange.arrived(count); });
  for (std::size_t i = 0; i < count; ++i) exchange.ready(i);
  test::expect_error(ErrorCode::state, "message 0 is ready already", [&] { exchange.ready(0); });
  exchange.wait();
  test::expect_error(ErrorCode::state, "ready(): the exchange was not started", [&] { exchange.ready(0); });
  exchange.free();
  test::expect_error(ErrorCode::state, "the exchange was freed", [&] { exchange.ready(0); });
  test::expect_same_error(
      ErrorCode::not_applicable, "option parts cannot be combined with an exchange in place",
      [&] { alltoallv_init(MPI_COMM_WORLD, in_place, in.data, in.counts, in.displs, by_parts); });
  if (n == 1) return;
  Exchange whole = make({.scheduler = "coloring"});
  test::expect_error(ErrorCode::not_applicable, "option parts", [&] { whole.ready(0); });
}

/// A message that is never made ready is named by the watchdog, an empty one too.
TEST(Parts, WatchdogNamesWhatIsNotReady) {
  if (test::world_size() == 1) return;
  for (const bool only_empty : {false, true}) {
    Blocks out(test::world_size(), test::world_rank(), 2);
    Blocks in(test::world_size(), test::world_rank(), 2);
    Exchange exchange = alltoallv_init(MPI_COMM_WORLD, out.data, out.counts, out.displs, in.data, in.counts,
                                       in.displs, mpi::PlanOptions{.watchdog_s = 0.3, .parts = true});
    exchange.start();
    for (std::size_t i = 0; only_empty && i < out.counts.size(); ++i)
      if (out.counts[i] > 0) exchange.ready(i);
    test::expect_error(ErrorCode::timeout, "ready() of the messages to rank", [&] { exchange.wait(); });
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Begins and ends that belong together, by region.
struct Seen {
  std::array<int, 3> begun = {};
  std::array<int, 3> ended = {};
};

TEST(Observer, SeesPlansExchangesAndPhases) {
  Seen seen;
  mpi::set_observer(
      {.begin = [](void* data, mpi::Region region,
                   std::int64_t) { ++static_cast<Seen*>(data)->begun[static_cast<std::size_t>(region)]; },
       .end = [](void* data, mpi::Region region,
                 std::int64_t) { ++static_cast<Seen*>(data)->ended[static_cast<std::size_t>(region)]; },
       .data = &seen});
  const Rank n = test::world_size();
  const std::vector<int> ones(static_cast<std::size_t>(n), 1);
  std::vector<int> places(ones.size());
  std::iota(places.begin(), places.end(), 0);
  std::vector<double> sent(ones.size());
  std::vector<double> received(ones.size());
  Exchange exchange = alltoallv_init(MPI_COMM_WORLD, sent, ones, places, received, ones, places,
                                     mpi::PlanOptions{.scheduler = "coloring", .executor = "phased"});
  for (int i = 0; i < 3; ++i) {
    exchange.start();
    EXPECT_EQ(seen.begun[1], seen.ended[1] + 1);
    if (i == 0) exchange.wait();
    while (i == 1 && !exchange.test()) {
    }
    while (i == 2 && exchange.next()) {
    }
  }
  mpi::set_observer({});
  exchange.start();
  exchange.wait();
  EXPECT_EQ(seen.begun, seen.ended);
  EXPECT_EQ(seen.begun[0], 1);
  EXPECT_EQ(seen.begun[1], 3);
  if (n > 2) {
    EXPECT_GE(seen.begun[2], 6);
  }
}

TEST(Several, Exchanges) {
  const Rank n = test::world_size();
  std::vector<Blocks> outs(3, Blocks(n, test::world_rank(), 100));
  std::vector<Blocks> ins(3, Blocks(n, test::world_rank(), 100));
  std::vector<Exchange> exchanges;
  for (std::size_t k = 0; k < outs.size(); ++k)
    exchanges.push_back(alltoallv_init(MPI_COMM_WORLD, outs[k].data, outs[k].counts, outs[k].displs,
                                       ins[k].data, ins[k].counts, ins[k].displs));
  for (int way = 0; way < 5; ++way) {
    for (std::size_t k = 0; k < outs.size(); ++k) {
      for (std::size_t i = 0; i < outs[k].counts.size(); ++i)
        outs[k].fill(i, value_of(test::world_rank(), static_cast<Rank>(i), static_cast<int>(k) + way));
      exchanges[k].start();
    }
    if (way == 0) mpi::waitall(exchanges);
    if (way == 1) mpi::waitall(exchanges[0], exchanges[2], exchanges[1]);
    std::size_t done = 0;
    while (way == 2 && mpi::waitany(exchanges)) ++done;
    while (way == 3 && done < exchanges.size()) done += mpi::testsome(exchanges).size();
    if (way == 4) mpi::waitall(std::array{&exchanges[2], &exchanges[0], &exchanges[1]});
    EXPECT_EQ(done, way == 2 || way == 3 ? exchanges.size() : 0);
    for (std::size_t k = 0; k < ins.size(); ++k)
      for (Rank src = 0; src < n; ++src)
        for (const double value : ins[k].block(static_cast<std::size_t>(src)))
          ASSERT_EQ(value, value_of(src, test::world_rank(), static_cast<int>(k) + way));
  }
  EXPECT_FALSE(mpi::waitany(exchanges));
  EXPECT_TRUE(mpi::testsome(exchanges).empty());
  mpi::waitall(exchanges);
}

}  // namespace
}  // namespace nuice
