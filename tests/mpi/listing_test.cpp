// SPDX-License-Identifier: BSD-3-Clause
// Partners that a rank lists several times: one message of the schedule, a buffer for each time; by every
// executor, split, forwarded, backwards, in fields, and one after the other.
#include <numeric>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

/// A periodic grid that is two wide: both neighbours are one rank. Odd ranks list a third message, some an
/// empty one, and every third rank itself twice.
std::vector<Partner> listed_by(Rank rank, Rank n) {
  const Rank next = (rank + 1) % n;
  std::vector<Partner> row = {{next, 96}, {(rank + n - 1) % n, 480}, {next, 48 + 96 * (rank % 3)}};
  if (rank % 2 == 1) row.insert(row.begin(), {next, 12000});
  if (rank % 4 == 0) row.push_back({next, 0});
  if (rank % 3 == 0) row.insert(row.end(), {{rank, 24}, {rank, 72}});
  return row;
}

/// What `rank` is to see: by ascending sender, in each sender's order.
std::vector<Partner> expected_sources(Rank rank, Rank n) {
  std::vector<Partner> sources;
  for (Rank src = 0; src < n; ++src)
    for (const auto& [dst, bytes] : listed_by(src, n))
      if (dst == rank && bytes > 0) sources.push_back({src, bytes});
  return sources;
}

/// By the k-th message of the pair that is not empty.
std::byte byte_of(Rank src, Rank dst, int k, Bytes at) {
  return static_cast<std::byte>(37 * src + 11 * dst + 101 * k + at * 7 + at / 256);
}

template <typename Visit>
void for_parts(std::span<const Partner> partners, Visit&& visit) {
  for (std::size_t i = 0; i < partners.size(); ++i) {
    int k = 0;
    for (std::size_t j = 0; j < i; ++j)
      if (partners[j].rank == partners[i].rank && partners[j].bytes > 0) ++k;
    visit(i, partners[i].rank, k, partners[i].bytes);
  }
}

/// forwards: from r to its destinations; otherwise back.
void expect_exchanged(mpi::Plan& plan, mpi::Direction direction) {
  const Rank rank = test::world_rank();
  const bool is_forwards = direction == mpi::Direction::forwards;
  const auto to = is_forwards ? plan.destinations() : plan.sources();
  const auto from = is_forwards ? plan.sources() : plan.destinations();
  test::Blocks send = test::poisoned(to);
  for_parts(to, [&](std::size_t i, Rank dst, int k, Bytes bytes) {
    for (Bytes b = 0; b < bytes; ++b) send[i][static_cast<std::size_t>(b)] = byte_of(rank, dst, k, b);
  });
  test::Blocks receive = test::poisoned(from);
  mpi::Exchange exchange = plan.bind(test::send_buffers(send), test::receive_buffers(receive), direction);
  for (int round = 0; round < 3; ++round) {
    test::poison_again(receive);
    exchange.start();
    std::size_t landed = 0;
    if (round == 1) {
      exchange.wait_each([&](Partner, std::span<std::byte>) { ++landed; });
      const auto with_bytes = std::ranges::count_if(from, [](const Partner& p) { return p.bytes > 0; });
      EXPECT_EQ(landed, static_cast<std::size_t>(with_bytes));
    } else {
      exchange.wait();
    }
    for_parts(from, [&](std::size_t i, Rank src, int k, Bytes bytes) {
      for (Bytes b = 0; b < bytes; ++b)
        ASSERT_EQ(receive[i][static_cast<std::size_t>(b)], byte_of(src, rank, k, b)) << i << " byte " << b;
      ASSERT_EQ(receive[i][static_cast<std::size_t>(bytes)], test::poison);
    });
  }
  exchange.free();
}

/// Elements of 8 bytes; the plan counts bytes.
void expect_fields_exchanged(mpi::Plan& plan) {
  const auto counts_of = [](std::span<const Partner> partners) {
    std::vector<std::int64_t> counts;
    for (const Partner& partner : partners) counts.push_back(partner.bytes / 8);
    return counts;
  };
  const auto fill = [](std::span<const Partner> partners, Rank self, bool is_send) {
    std::vector<double> values;
    for_parts(partners, [&](std::size_t, Rank other, int k, Bytes bytes) {
      const Rank src = is_send ? self : other;
      const Rank dst = is_send ? other : self;
      for (Bytes b = 0; b < bytes / 8; ++b)
        values.push_back(1e6 * src + 1e4 * dst + 1e3 * k + static_cast<double>(b));
    });
    return values;
  };
  const auto send_counts = counts_of(plan.destinations());
  const auto receive_counts = counts_of(plan.sources());
  const std::vector<double> sent = fill(plan.destinations(), test::world_rank(), true);
  const std::vector<double> expected = fill(plan.sources(), test::world_rank(), false);
  std::vector<double> received(expected.size(), -1);
  const std::vector<mpi::SendField> send = {{sent.data(), MPI_DOUBLE, send_counts}};
  const std::vector<mpi::ReceiveField> receive = {{received.data(), MPI_DOUBLE, receive_counts}};
  mpi::Exchange exchange = plan.bind(send, receive);
  exchange.start();
  exchange.wait();
  EXPECT_EQ(received, expected);
  exchange.free();
}

TEST(Listing, APartnerMayStandThereSeveralTimes) {
  const Rank n = test::world_size();
  for (const std::string way :
       {"scheduler=rs_n executor=phased", "scheduler=coloring executor=phased", "scheduler=ac executor=async",
        "scheduler=slices executor=phased", "scheduler=slices executor=async",
        "scheduler=coloring executor=pairwise", "scheduler=coloring executor=depend",
        "scheduler=bruck executor=phased",
        "scheduler=distributed_coloring executor=async planning=distributed", "scheduler=auto"}) {
    SCOPED_TRACE(way);
    mpi::PlanOptions options = mpi::PlanOptions::parse(way);
    options.hosts = "1";  // each rank a port of its own
    options.depend.early_bytes = 1000;
    mpi::Plan plan(MPI_COMM_WORLD, listed_by(test::world_rank(), n), options);
    const auto sources = plan.sources();
    EXPECT_EQ(std::vector<Partner>(sources.begin(), sources.end()), expected_sources(test::world_rank(), n));
    EXPECT_EQ(plan.destinations().size(), listed_by(test::world_rank(), n).size());
    expect_exchanged(plan, mpi::Direction::forwards);
    expect_exchanged(plan, mpi::Direction::backwards);
    if (options.scheduler != "bruck") expect_fields_exchanged(plan);
    plan.free();
  }
}

TEST(Listing, SmallMessagesOfAHostAreCombinedAllTheSame) {
  const Rank n = test::world_size();
  if (n < 4) GTEST_SKIP() << "needs two hosts with two ranks";
  const mpi::PlanOptions options = mpi::PlanOptions::parse("scheduler=coloring combine=true hosts=2");
  mpi::Plan plan(MPI_COMM_WORLD, listed_by(test::world_rank(), n), options);
  expect_exchanged(plan, mpi::Direction::forwards);
  expect_exchanged(plan, mpi::Direction::backwards);
  expect_fields_exchanged(plan);
}

TEST(Listing, SumsBeyondTheLimitNameThePair) {
  const std::vector<Partner> twice = {{0, max_bytes}, {0, 1}};
  test::expect_same_error(ErrorCode::limit, "rank 0", [&] { mpi::Plan(MPI_COMM_WORLD, twice); });
}

}  // namespace
}  // namespace nuice
