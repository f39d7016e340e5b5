// SPDX-License-Identifier: BSD-3-Clause
// Nothing in the steady state allocates: every operator new of this program is counted.
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"
#include "support/allocations.hpp"

namespace nuice {
namespace {

long allocations_of_steady_state(const mpi::PlanOptions& options) {
  std::vector<Message> entries =
      random_density(test::world_size(), 0.9, {.unit_bytes = 999, .max_units = 20}, 3).entries();
  entries.push_back({0, 0, 50});
  const CommMatrix matrix = CommMatrix::from_messages(test::world_size(), entries);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options);
  test::BoundPlan bound(plan);
  const long before = num_allocations;
  for (int i = 0; i < 20; ++i) {
    bound.exchange.start();
    bound.exchange.wait();
    bound.exchange.start();
    while (!bound.exchange.test()) std::this_thread::yield();
    bound.exchange.start();
    while (bound.exchange.next()) {
    }
  }
  const long after = num_allocations;
  bound.expect_received(0);
  return after - before;
}

TEST(SteadyState, DoesNotAllocate) {
  EXPECT_EQ(allocations_of_steady_state({.scheduler = "ac", .executor = "async"}), 0);
  EXPECT_EQ(allocations_of_steady_state({.scheduler = "ac", .executor = "async", .async = {.max_sends = 2}}),
            0);
  EXPECT_EQ(allocations_of_steady_state({.executor = "phased"}), 0);
  EXPECT_EQ(allocations_of_steady_state({.executor = "depend"}), 0);
  EXPECT_EQ(allocations_of_steady_state({.watchdog_s = 60}), 0);
  EXPECT_EQ(allocations_of_steady_state({.scheduler = "rex", .executor = "phased"}), 0);
}

}  // namespace
}  // namespace nuice
