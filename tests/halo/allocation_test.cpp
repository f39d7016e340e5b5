// SPDX-License-Identifier: BSD-3-Clause
// Nothing between start and wait allocates: every operator new of this program is counted.
#include <thread>

#include "halo/halo_support.hpp"
#include "support/allocations.hpp"

namespace nuice {
namespace {

long allocations(mpi::HaloExchange& exchange) {
  const long before = num_allocations;
  for (int i = 0; i < 20; ++i) {
    exchange.start();
    exchange.wait();
    exchange.start();
    while (!exchange.test()) std::this_thread::yield();
  }
  return num_allocations - before;
}

TEST(HaloSteadyState, DoesNotAllocate) {
  const test::Entries all = test::entries_at_random(2);
  mpi::Halo halo = test::halo_by_list(all);
  std::vector<double> values(halo.num_entries() * 3);
  std::vector<float> more(halo.num_entries());
  auto gather = halo.bind_gather(values, 3);
  auto scatter = halo.bind_scatter(values, 3);
  const auto owned = static_cast<std::size_t>(halo.num_owned());
  auto both = halo.bind_gather(std::vector<mpi::GatherField>{
      mpi::gather_field(std::span(values).first(3 * owned), std::span(values).subspan(3 * owned), 3),
      mpi::gather_field(std::span(more).first(owned), std::span(more).subspan(owned))});
  EXPECT_EQ(allocations(gather), 0);
  EXPECT_EQ(allocations(scatter), 0);
  EXPECT_EQ(allocations(both), 0);
}

}  // namespace
}  // namespace nuice
