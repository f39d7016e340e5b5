// SPDX-License-Identifier: BSD-3-Clause
// One plan serves entries of any size, whatever size it was made for, by every scheduler and executor.
#include <functional>

#include "halo/halo_support.hpp"

namespace nuice {
namespace {

using mpi::GlobalIndex;
using mpi::Halo;

const std::vector<GlobalIndex>& of_this_rank(const std::vector<std::vector<GlobalIndex>>& by_rank) {
  return by_rank[static_cast<std::size_t>(test::world_rank())];
}

/// Gathers and scatters values of one byte, so that `components` is the bytes per entry.
void expect_moves(Halo& halo, const test::Entries& all, int components) {
  const auto ghosts = all.ghosts(test::world_rank());
  const auto owned_values = test::values_of<std::uint8_t>(of_this_rank(all.owned), components);
  std::vector<std::uint8_t> received(ghosts.size() * static_cast<std::size_t>(components));
  auto gather = halo.bind_gather(owned_values, received, components);
  const auto salt = 100 + static_cast<std::uint64_t>(test::world_rank());
  const auto given = test::values_of<std::uint8_t>(ghosts, components, salt);
  auto sums = owned_values;
  auto scatter = halo.bind_scatter(given, sums, components);
  for (int round = 0; round < 2; ++round) {
    std::ranges::fill(received, 0);
    gather.start();
    gather.wait();
    EXPECT_EQ(received, test::values_of<std::uint8_t>(ghosts, components)) << components << " bytes";
    sums = owned_values;
    scatter.start();
    scatter.wait();
    EXPECT_EQ(sums, test::scattered<std::uint8_t>(all, components, std::plus<>())) << components << " bytes";
  }
}

/// A field of bytes, one of numbers, and one of many bytes.
void expect_fields_move(Halo& halo, const test::Entries& all) {
  constexpr int many = 41;
  const auto& owned = of_this_rank(all.owned);
  const auto ghosts = all.ghosts(test::world_rank());
  const auto a = test::values_of<std::uint8_t>(owned, 1, 1);
  const auto b = test::values_of<double>(owned, 2, 2);
  const auto c = test::values_of<std::uint8_t>(owned, many, 3);
  std::vector<std::uint8_t> ghost_a(ghosts.size());
  std::vector<double> ghost_b(ghosts.size() * 2);
  std::vector<std::uint8_t> ghost_c(ghosts.size() * many);
  auto gather = halo.bind_gather(std::vector<mpi::GatherField>{
      mpi::gather_field(a, ghost_a), mpi::gather_field(b, ghost_b, 2), mpi::gather_field(c, ghost_c, many)});
  gather.start();
  gather.wait();
  EXPECT_EQ(ghost_a, test::values_of<std::uint8_t>(ghosts, 1, 1));
  EXPECT_EQ(ghost_b, test::values_of<double>(ghosts, 2, 2));
  EXPECT_EQ(ghost_c, test::values_of<std::uint8_t>(ghosts, many, 3));
}

TEST(HaloSizes, EverySchedulerServesEntriesOfAnySize) {
  const test::Entries all = test::entries_at_random(3);
  for (const Scheduler& scheduler : schedulers()) {
    SCOPED_TRACE(scheduler.name);
    std::optional<Halo> halo;
    try {
      halo.emplace(MPI_COMM_WORLD, mpi::Ownership::list(of_this_rank(all.owned)), of_this_rank(all.needed),
                   mpi::PlanOptions{.scheduler = std::string(scheduler.name)}, 12);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_applicable) << error.what();
      continue;
    }
    for (const int bytes : {1, 8, 12}) expect_moves(*halo, all, bytes);
    expect_fields_move(*halo, all);
  }
}

TEST(HaloSizes, EveryExecutorServesEntriesOfAnySize) {
  const test::Entries all = test::entries_at_random(3);
  for (const std::string executor : {"async", "phased", "depend"}) {
    Halo halo = test::halo_by_list(all, {.scheduler = "rs_nh", .executor = executor, .hosts = "1"});
    for (const int bytes : {1, 3, 8}) expect_moves(halo, all, bytes);
    expect_fields_move(halo, all);
  }
}

TEST(HaloSizes, WithANetworkTheGatherIsPlanned) {
  const test::Entries all = test::entries_at_random(3);
  Halo halo(MPI_COMM_WORLD, mpi::Ownership::list(of_this_rank(all.owned)), of_this_rank(all.needed),
            {.scheduler = "rs_nl", .topology = "crossbar:" + std::to_string(test::world_size())});
  for (const int bytes : {1, 8, 32}) expect_moves(halo, all, bytes);
}

TEST(HaloSizes, MessagesAreLong) {
  test::Entries all;
  const int n = test::world_size();
  all.owned.resize(static_cast<std::size_t>(n));
  all.needed.resize(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r)
    for (GlobalIndex g = 2000 * r; g < 2000 * (r + 1); ++g) {
      all.owner[g] = r;
      all.owned[static_cast<std::size_t>(r)].push_back(g);
      all.needed[static_cast<std::size_t>((r + 1) % n)].push_back(g);
    }
  for (const std::string executor : {"phased", "async"}) {
    Halo halo(MPI_COMM_WORLD, mpi::Ownership::list(of_this_rank(all.owned)), of_this_rank(all.needed),
              {.executor = executor, .hosts = "1"});
    expect_moves(halo, all, 56);  // 112,000 bytes
    expect_fields_move(halo, all);
  }
}

TEST(HaloSizes, WhatIsPlannedForIsChecked) {
  const auto make = [](Bytes bytes) {
    return Halo(MPI_COMM_WORLD, mpi::Ownership::list({}), std::vector<GlobalIndex>{}, {}, bytes);
  };
  const bool is_last = test::world_rank() == test::world_size() - 1;
  const std::string last = "rank " + std::to_string(test::world_size() - 1);
  test::expect_same_error(ErrorCode::invalid_argument, last + ": an entry has 0 bytes",
                          [&] { make(is_last ? 0 : 8); });
  if (test::world_size() > 1)
    test::expect_same_error(ErrorCode::mismatch, "bytes per entry differ: 8 on rank 0, 16 on " + last,
                            [&] { make(is_last ? 16 : 8); });
}

}  // namespace
}  // namespace nuice
