// SPDX-License-Identifier: BSD-3-Clause
// Messages that their receivers do not expect: random ones, short and long, many calls back
// to back by ranks that are not in step.
#include "nuice/mpi/sparse_alltoallv.hpp"

#include <chrono>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

using mpi::Outgoing;
using mpi::sparse_alltoallv;

struct Drawn {
  Rank src;
  Rank dst;
  std::vector<int> numbers;
};

/// Every rank draws all messages.
std::vector<Drawn> draw(Random& rng, std::uint64_t most_numbers) {
  const auto n = static_cast<std::uint64_t>(test::world_size());
  std::vector<Drawn> all(static_cast<std::size_t>(rng.below(2 * n + 1)));
  for (Drawn& each : all) {
    each.src = static_cast<Rank>(rng.below(n));
    each.dst = static_cast<Rank>(rng.below(n));
    each.numbers.resize(static_cast<std::size_t>(rng.below(most_numbers)));
    for (int& number : each.numbers) number = static_cast<int>(rng.below(1000));
  }
  return all;
}

void expect_received(const std::vector<Drawn>& all, const mpi::Received& received) {
  std::size_t at = 0;
  for (Rank src = 0; src < test::world_size(); ++src) {
    for (const Drawn& each : all) {
      if (each.src != src || each.dst != test::world_rank() || each.numbers.empty()) continue;
      ASSERT_LT(at, received.sources.size());
      EXPECT_EQ(received.sources[at].rank, src);
      EXPECT_TRUE(std::ranges::equal(received.message<int>(at), each.numbers));
      ++at;
    }
  }
  EXPECT_EQ(at, received.sources.size());
}

TEST(SparseAlltoallv, DeliversWhatNobodyExpects) {
  Random rng(11);
  Random own(static_cast<std::uint64_t>(test::world_rank()) + 1);
  for (int round = 0; round < test::rounds(60, 300); ++round) {
    const std::vector<Drawn> all = draw(rng, round % 3 == 0 ? 5 : 3000);
    std::vector<Outgoing> sends;
    for (const Drawn& each : all)
      if (each.src == test::world_rank())
        sends.push_back({each.dst, each.numbers.data(), std::ssize(each.numbers), MPI_INT});
    if (own.below(8) == 0) std::this_thread::sleep_for(std::chrono::microseconds(own.below(500)));
    expect_received(all, sparse_alltoallv(MPI_COMM_WORLD, sends));
  }
}

/// What is kept goes with the communicator.
TEST(SparseAlltoallv, AnyCommunicatorAndTypesWithGaps) {
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  const Rank next = (test::world_rank() + 1) % test::world_size();
  const Rank last = (test::world_rank() + test::world_size() - 1) % test::world_size();
  const std::vector<int> numbers = {test::world_rank(), -1, 5, -1, 6};
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const mpi::Received received =
        sparse_alltoallv(comm, std::vector<Outgoing>{{next, numbers.data(), 1, every_second}});
    ASSERT_EQ(received.sources.size(), 1U);
    EXPECT_TRUE(std::ranges::equal(received.message<int>(0), std::vector<int>{last, 5, 6}));
    MPI_Comm_free(&comm);
  }
  MPI_Type_free(&every_second);
}

/// More than the memory of a host has room for, of short messages and of long ones; ranks run ahead of each
/// other.
TEST(SparseAlltoallv, ManyMessagesForOneRank) {
  const Rank next = (test::world_rank() + 1) % test::world_size();
  const Rank last = (test::world_rank() + test::world_size() - 1) % test::world_size();
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<int>> messages;
    for (int i = 0; i < 60; ++i)
      messages.emplace_back(i % 20 == 7 ? 20000 : 2000, 1000 * test::world_rank() + i + round);
    std::vector<Outgoing> sends;
    for (const std::vector<int>& each : messages)
      sends.push_back({next, each.data(), std::ssize(each), MPI_INT});
    const mpi::Received received = sparse_alltoallv(MPI_COMM_WORLD, sends);
    ASSERT_EQ(received.sources.size(), messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      EXPECT_EQ(received.sources[i].rank, last);
      const std::vector<int> expected(messages[i].size(), 1000 * last + static_cast<int>(i) + round);
      EXPECT_TRUE(std::ranges::equal(received.message<int>(i), expected));
    }
  }
}

TEST(SparseAlltoallv, WrongArgumentsAreErrorsOfAllRanks) {
  const Rank n = test::world_size();
  const bool is_last = test::world_rank() == n - 1;
  const int number = 1;
  const auto call = [&](Rank to, std::int64_t count) {
    std::vector<Outgoing> sends = {{0, &number, 1, MPI_INT}};
    if (is_last) sends.push_back({to, &number, count, MPI_INT});
    return sparse_alltoallv(MPI_COMM_WORLD, sends);
  };
  const std::string who = "rank " + std::to_string(n - 1) + ": a message to rank ";
  test::expect_same_error(ErrorCode::invalid_argument, who + std::to_string(n) + " of", [&] { call(n, 1); });
  test::expect_same_error(ErrorCode::invalid_argument, who + "0 has -3 elements", [&] { call(0, -3); });
  EXPECT_EQ(call(0, 0).sources.size(), test::world_rank() == 0 ? static_cast<std::size_t>(n) : 0U);
}

/// Long messages and full pools are on their way when a rank refuses; the next calls get none of them.
TEST(SparseAlltoallv, NothingOfAFailedCallIsLeft) {
  const Rank n = test::world_size();
  const Rank next = (test::world_rank() + 1) % n;
  const Rank last = (test::world_rank() + n - 1) % n;
  for (int round = 0; round < 6; ++round) {
    const bool fails = round % 3 != 2;
    const std::vector<int> long_one(20000, 100 * test::world_rank() + round);
    std::vector<Outgoing> sends(3, {next, long_one.data(), std::ssize(long_one), MPI_INT});
    for (int i = 0; i < 60; ++i) sends.push_back({next, long_one.data(), 2000, MPI_INT});
    if (fails && test::world_rank() == n - 1) sends.push_back({n, long_one.data(), 1, MPI_INT});
    if (fails) {
      test::expect_same_error(ErrorCode::invalid_argument, "a message to rank " + std::to_string(n) + " of",
                              [&] { sparse_alltoallv(MPI_COMM_WORLD, sends); });
      continue;
    }
    const mpi::Received received = sparse_alltoallv(MPI_COMM_WORLD, sends);
    ASSERT_EQ(received.sources.size(), sends.size());
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const std::vector<int> expected(i < 3 ? 20000 : 2000, 100 * last + round);
      EXPECT_TRUE(std::ranges::equal(received.message<int>(i), expected));
    }
  }
}

}  // namespace
}  // namespace nuice
