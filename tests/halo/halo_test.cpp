// SPDX-License-Identifier: BSD-3-Clause
// Halos against an oracle that knows the whole array, for every kind of
// ownership, type, operation and executor.
#include <complex>
#include <functional>
#include <thread>

#include "halo/halo_support.hpp"

namespace nuice {
namespace {

using mpi::GlobalIndex;
using mpi::Halo;
using mpi::LocalIndex;
using mpi::Ownership;
using test::Entries;

constexpr std::uint64_t num_seeds = 12;

std::vector<GlobalIndex> mine(const std::vector<std::vector<GlobalIndex>>& by_rank) {
  return by_rank[static_cast<std::size_t>(test::world_rank())];
}

void expect_knows(const Halo& halo, const Entries& all) {
  const auto owned = mine(all.owned);
  const auto ghosts = all.ghosts(test::world_rank());
  EXPECT_EQ(halo.num_owned(), static_cast<LocalIndex>(owned.size()));
  EXPECT_EQ(std::vector<GlobalIndex>(halo.ghosts().begin(), halo.ghosts().end()), ghosts);
  for (std::size_t i = 0; i < owned.size(); ++i)
    EXPECT_EQ(halo.local_index(owned[i]), static_cast<LocalIndex>(i));
  for (std::size_t k = 0; k < ghosts.size(); ++k)
    EXPECT_EQ(halo.local_index(ghosts[k]), static_cast<LocalIndex>(owned.size() + k));
  std::size_t num_needed = 0;
  for (const mpi::HaloPartner& needer : halo.needers()) {
    std::vector<GlobalIndex> sent;
    for (const LocalIndex i : needer.entries) sent.push_back(owned[static_cast<std::size_t>(i)]);
    std::vector<GlobalIndex> wanted = all.ghosts(needer.rank);
    std::erase_if(wanted, [&](GlobalIndex g) { return all.owner.at(g) != test::world_rank(); });
    EXPECT_EQ(sent, wanted) << "for rank " << needer.rank;
    ++num_needed;
  }
  for (Rank rank = 0; rank < all.num_ranks(); ++rank)
    if (std::ranges::any_of(all.ghosts(rank),
                            [&](GlobalIndex g) { return all.owner.at(g) == test::world_rank(); }))
      --num_needed;
  EXPECT_EQ(num_needed, 0U);
}

template <typename T>
void expect_gathers(Halo& halo, const Entries& all, int components, bool poll = false) {
  std::vector<T> values = test::values_of<T>(mine(all.owned), components);
  const std::size_t num_owned = values.size();
  values.resize(halo.num_entries() * static_cast<std::size_t>(components));
  auto gather = halo.bind_gather(values, components);
  for (std::uint64_t round = 0; round < 3; ++round) {
    std::ranges::copy(test::values_of<T>(mine(all.owned), components, round), values.begin());
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(num_owned), values.end(), T(-7));
    gather.start();
    if (poll) {
      while (!gather.test()) std::this_thread::yield();
    } else {
      gather.wait();
    }
    std::vector<T> expected = test::values_of<T>(mine(all.owned), components, round);
    const auto ghosts = test::values_of<T>(all.ghosts(test::world_rank()), components, round);
    expected.insert(expected.end(), ghosts.begin(), ghosts.end());
    EXPECT_EQ(values, expected);
  }
  gather.free();
}

template <typename T, typename Op = std::plus<>>
void expect_scatters(Halo& halo, const Entries& all, int components, Op op = {}) {
  const auto salt = 100 + static_cast<std::uint64_t>(test::world_rank());
  const std::vector<T> ghosts = test::values_of<T>(all.ghosts(test::world_rank()), components, salt);
  std::vector<T> owned = test::values_of<T>(mine(all.owned), components);
  auto scatter = halo.bind_scatter(ghosts, owned, components, op);
  for (int round = 0; round < 3; ++round) {
    std::ranges::copy(test::values_of<T>(mine(all.owned), components), owned.begin());
    scatter.start();
    scatter.wait();
    // Exactly equal, floating-point sums too: the order is fixed.
    EXPECT_EQ(owned, (test::scattered<T>(all, components, op)));
  }
}

TEST(Halo, RangesKnowGatherAndScatter) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    SCOPED_TRACE(seed);
    const Entries all = test::entries_in_ranges(seed);
    Halo halo = test::halo_by_ranges(all);
    expect_knows(halo, all);
    expect_gathers<double>(halo, all, 1);
    expect_scatters<double>(halo, all, 1);
  }
}

TEST(Halo, ArraysAndFunctionsOfOwners) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    SCOPED_TRACE(seed);
    const Entries all = test::entries_at_random(seed);
    Halo by_array = test::halo_by_array(all);
    expect_knows(by_array, all);
    expect_gathers<std::complex<double>>(by_array, all, 3);
    expect_scatters<std::complex<double>>(by_array, all, 3);
    Halo by_rule = test::halo_by_function(all);
    expect_knows(by_rule, all);
    expect_gathers<float>(by_rule, all, 2, true);
    expect_scatters<float>(by_rule, all, 2);
  }
}

TEST(Halo, TheDirectoryFindsSparseIndices) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    SCOPED_TRACE(seed);
    const Entries all = test::sparse_entries(seed);
    Halo halo = test::halo_by_list(all);
    expect_knows(halo, all);
    expect_gathers<std::int32_t>(halo, all, 5);
    expect_scatters<std::int64_t>(halo, all, 1);
    expect_scatters<std::int32_t>(halo, all, 4, [](auto a, auto b) { return std::max(a, b); });
    expect_scatters<double>(halo, all, 2, [](double a, double b) { return std::min(a, b); });
    expect_scatters<std::uint8_t>(halo, all, 3, std::bit_xor<>());
  }
}

TEST(Halo, EverySchedulerAndExecutor) {
  const Entries all = test::entries_at_random(3);
  for (const char* scheduler : {"ac", "lp", "rs_n", "coloring", "rs_nh", "birkhoff"})
    for (const std::string executor : {"async", "phased", "pairwise"}) {
      SCOPED_TRACE(scheduler);
      Halo halo = test::halo_by_list(all, {.scheduler = scheduler, .executor = executor});
      expect_gathers<double>(halo, all, 4);
      expect_scatters<double>(halo, all, 4);
    }
}

TEST(Halo, SeveralFieldsTravelTogether) {
  for (std::uint64_t seed = 20; seed < 26; ++seed) {
    const Entries all = test::entries_at_random(seed);
    Halo halo = test::halo_by_list(all);
    const auto owned = mine(all.owned);
    const auto ghosts = all.ghosts(test::world_rank());
    // The odd number of bytes in front leaves the doubles unaligned in the message.
    const auto a = test::values_of<std::uint8_t>(owned, 3, 1);
    const auto b = test::values_of<double>(owned, 2, 2);
    std::vector<std::uint8_t> ghost_a(ghosts.size() * 3);
    std::vector<double> ghost_b(ghosts.size() * 2);
    auto gather = halo.bind_gather(
        std::vector<mpi::GatherField>{mpi::gather_field(a, ghost_a, 3), mpi::gather_field(b, ghost_b, 2)});
    gather.start();
    gather.wait();
    EXPECT_EQ(ghost_a, test::values_of<std::uint8_t>(ghosts, 3, 1));
    EXPECT_EQ(ghost_b, test::values_of<double>(ghosts, 2, 2));

    const auto salt = 100 + static_cast<std::uint64_t>(test::world_rank());
    const auto give_a = test::values_of<std::uint8_t>(ghosts, 3, salt);
    const auto give_b = test::values_of<double>(ghosts, 2, salt);
    auto sum_a = test::values_of<std::uint8_t>(owned, 3);
    auto sum_b = test::values_of<double>(owned, 2);
    auto scatter = halo.bind_scatter(std::vector<mpi::ScatterField>{
        mpi::scatter_field(give_a, sum_a, 3, std::bit_or<>()), mpi::scatter_field(give_b, sum_b, 2)});
    scatter.start();
    scatter.wait();
    EXPECT_EQ(sum_a, (test::scattered<std::uint8_t>(all, 3, std::bit_or<>())));
    EXPECT_EQ(sum_b, (test::scattered<double>(all, 2, std::plus<>())));
  }
}

/// sum over owned of owned * scatter(ghosts) = sum over ghosts of gather(owned) * ghosts: what makes reverse
/// the transpose of forward. In integers, so that it holds exactly.
TEST(Halo, ScatterIsTheTransposeOfGather) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    const Entries all = test::sparse_entries(seed);
    Halo halo = test::halo_by_list(all);
    const auto x = test::values_of<std::int64_t>(mine(all.owned), 1, 5);
    const auto y = test::values_of<std::int64_t>(all.ghosts(test::world_rank()), 1, 6);
    std::vector<std::int64_t> gathered(y.size());
    std::vector<std::int64_t> returned(x.size(), 0);
    auto gather = halo.bind_gather(x, gathered);
    auto scatter = halo.bind_scatter(y, returned);
    gather.start();
    scatter.start();
    gather.wait();
    scatter.wait();
    std::int64_t difference = 0;
    for (std::size_t i = 0; i < x.size(); ++i) difference += x[i] * returned[i];
    for (std::size_t k = 0; k < y.size(); ++k) difference -= gathered[k] * y[k];
    MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(difference, 0);
  }
}

TEST(Halo, MatrixHasTheBytesOfAGather) {
  const Entries all = test::entries_at_random(9);
  const Halo halo = test::halo_by_list(all);
  std::vector<Message> entries;
  for (Rank dst = 0; dst < all.num_ranks(); ++dst) {
    std::map<Rank, Bytes> from;
    for (const GlobalIndex g : all.ghosts(dst)) from[all.owner.at(g)] += 24;
    for (const auto& [src, bytes] : from) entries.push_back({src, dst, bytes});
  }
  EXPECT_EQ(halo.matrix(24), CommMatrix::from_messages(all.num_ranks(), entries));
}

TEST(Halo, ExchangesOutliveTheHaloAndItMoves) {
  const Entries all = test::entries_at_random(4);
  std::optional<Halo> halo = test::halo_by_list(all);
  Halo moved = std::move(*halo);
  std::vector<double> values = test::values_of<double>(mine(all.owned), 1);
  values.resize(moved.num_entries());
  auto gather = moved.bind_gather(values);
  const auto ghosts = test::values_of<double>(all.ghosts(test::world_rank()), 1);
  halo.reset();
  {
    const Halo gone = std::move(moved);
  }
  gather.start();
  gather.wait();
  EXPECT_TRUE(std::ranges::equal(std::span(values).last(ghosts.size()), ghosts));
  EXPECT_FALSE(gather.info().scheduler.empty());
}

}  // namespace
}  // namespace nuice
