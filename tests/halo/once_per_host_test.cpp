// SPDX-License-Identifier: BSD-3-Clause
// Values that cross the network once for all ranks of a host, on hosts of two and three ranks that are named.
#include <functional>
#include <set>
#include <thread>

#include "halo/halo_support.hpp"

namespace nuice {
namespace {

using mpi::GlobalIndex;
using mpi::Halo;
using mpi::HaloExchange;
using test::Entries;

const std::vector<GlobalIndex>& entries_here(const Entries& all) {
  return all.owned[static_cast<std::size_t>(test::world_rank())];
}

/// Two ranks a host, one host after the other; the last one alone if they are odd.
std::string in_pairs() {
  if (test::world_size() == 1) return "1";  // a single number is how many ranks each host has
  std::string hosts;
  for (int rank = 0; rank < test::world_size(); ++rank)
    hosts += (rank > 0 ? "," : "") + std::to_string(rank / 2);
  return hosts;
}

/// Entries that cross the network, each time and once for a host.
std::pair<std::int64_t, std::int64_t> crossing(const Entries& all) {
  std::int64_t every_time = 0;
  std::set<std::pair<Rank, GlobalIndex>> once;
  for (Rank rank = 0; rank < all.num_ranks(); ++rank)
    for (const GlobalIndex g : all.ghosts(rank))
      if (all.owner.at(g) / 2 != rank / 2) {
        ++every_time;
        once.insert({rank / 2, g});
      }
  return {every_time, static_cast<std::int64_t>(once.size())};
}

void finish(HaloExchange& exchange, bool poll) {
  if (!poll) return exchange.wait();
  while (!exchange.test()) std::this_thread::yield();
}

void expect_gathers_once(Halo& halo, const Entries& all, Bytes spared_entries) {
  const auto ghosts = all.ghosts(test::world_rank());
  std::vector<std::int64_t> owned = test::values_of<std::int64_t>(entries_here(all), 3);
  std::vector<std::int64_t> got(ghosts.size() * 3);
  auto gather = halo.bind_gather(owned, got, 3);
  EXPECT_EQ(gather.info().spared_bytes, spared_entries * 24);
  for (std::uint64_t round = 0; round < 4; ++round) {
    std::ranges::copy(test::values_of<std::int64_t>(entries_here(all), 3, round), owned.begin());
    std::ranges::fill(got, -7);
    gather.start();
    finish(gather, round % 2 == 1);
    EXPECT_EQ(got, test::values_of<std::int64_t>(ghosts, 3, round));
  }
  gather.free();
}

void expect_scatters_once(Halo& halo, const Entries& all) {
  const auto salt = 100 + static_cast<std::uint64_t>(test::world_rank());
  const auto give = test::values_of<std::int64_t>(all.ghosts(test::world_rank()), 2, salt);
  std::vector<std::int64_t> sum(entries_here(all).size() * 2);
  auto scatter = halo.bind_scatter(give, sum, 2);
  for (int round = 0; round < 3; ++round) {
    std::ranges::copy(test::values_of<std::int64_t>(entries_here(all), 2), sum.begin());
    scatter.start();
    finish(scatter, round == 1);
    EXPECT_EQ(sum, (test::scattered<std::int64_t>(all, 2, std::plus<>())));
  }
}

void expect_once(test::MakeHalo& make, Entries (&entries_of)(std::uint64_t seed)) {
  bool any = false;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Entries all = entries_of(seed);
    const auto [every_time, once] = crossing(all);
    const bool pays = test::world_size() > 1 && 10 * once <= 9 * every_time && every_time > 0;
    any = any || pays;
    for (const bool wanted : {true, false}) {
      mpi::PlanOptions options;
      options.hosts = in_pairs();
      options.once_per_host = wanted;
      Halo halo = make(all, options);
      expect_gathers_once(halo, all, wanted && pays ? every_time - once : 0);
      expect_scatters_once(halo, all);
    }
  }
  EXPECT_EQ(any, test::world_size() > 2) << "some case in which it pays";
}

TEST(OncePerHost, GathersAndScattersTheSame) {
  expect_once(test::halo_by_list, test::sparse_entries);
  expect_once(test::halo_by_ranges, test::entries_in_ranges);
  expect_once(test::halo_by_array, test::entries_at_random);
  expect_once(test::halo_by_function, test::entries_at_random);
}

/// a - (b - c) is not a - b - c.
TEST(OncePerHost, OperationsThatAreNotAssociativeAreLeftToTheOwner) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Entries all = test::sparse_entries(seed);
    mpi::PlanOptions options;
    options.hosts = in_pairs();
    Halo halo = test::halo_by_list(all, options);
    const auto salt = 100 + static_cast<std::uint64_t>(test::world_rank());
    const auto give = test::values_of<std::int64_t>(all.ghosts(test::world_rank()), 1, salt);
    auto left = test::values_of<std::int64_t>(entries_here(all), 1);
    auto scatter = halo.bind_scatter(give, left, 1, std::minus<>());
    EXPECT_EQ(scatter.info().spared_bytes, 0);
    scatter.start();
    scatter.wait();
    EXPECT_EQ(left, (test::scattered<std::int64_t>(all, 1, std::minus<>())));
  }
}

/// Of floating-point sums the order is fixed too, whatever the timing.
TEST(OncePerHost, SumsAreTheSameEveryTime) {
  const Entries all = test::sparse_entries(3);
  mpi::PlanOptions options;
  options.hosts = in_pairs();
  Halo halo = test::halo_by_list(all, options);
  const auto give = test::values_of<double>(all.ghosts(test::world_rank()), 1, 7);
  std::vector<double> first;
  std::vector<double> sum(entries_here(all).size());
  auto scatter = halo.bind_scatter(give, sum);
  for (int round = 0; round < 10; ++round) {
    std::ranges::fill(sum, 0.1);
    scatter.start();
    scatter.wait();
    if (round == 0) first = sum;
    EXPECT_EQ(sum, first);
  }
}

TEST(OncePerHost, ExchangesOutliveTheHaloAndEndWhenTheyAreDropped) {
  const Entries all = test::sparse_entries(5);
  mpi::PlanOptions options;
  options.hosts = in_pairs();
  const auto ghosts = all.ghosts(test::world_rank());
  const auto owned = test::values_of<double>(entries_here(all), 1);
  std::vector<double> got(ghosts.size());
  {
    auto halo = std::make_unique<Halo>(test::halo_by_list(all, options));
    HaloExchange gather = halo->bind_gather(owned, got);
    halo.reset();
    EXPECT_THROW(gather.wait(), Error);
    gather.start();
    EXPECT_THROW(gather.start(), Error);
    EXPECT_THROW(gather.free(), Error);
  }
  EXPECT_EQ(got, test::values_of<double>(ghosts, 1));
}

}  // namespace
}  // namespace nuice
