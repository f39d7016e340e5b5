// SPDX-License-Identifier: BSD-3-Clause
// Nothing in the steady state allocates: every operator new of this program is counted.
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace {
std::atomic<long> num_allocations{0};
}

void* operator new(std::size_t bytes) {
  ++num_allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {  // else that of a sanitizer is taken
  ++num_allocations;
  return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

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
  const long before = num_allocations;
  ::operator delete(::operator new(1));  // not `delete new int`, which an optimiser may leave out
  ASSERT_EQ(num_allocations - before, 1) << "allocations are not counted";
  EXPECT_EQ(allocations_of_steady_state({.scheduler = "ac", .executor = "async"}), 0);
  EXPECT_EQ(allocations_of_steady_state({.scheduler = "ac", .executor = "async", .async = {.max_sends = 2}}),
            0);
  EXPECT_EQ(allocations_of_steady_state({.executor = "phased"}), 0);
  EXPECT_EQ(allocations_of_steady_state({.executor = "phased", .phased = {.in_flight = 2}}), 0);
  EXPECT_EQ(allocations_of_steady_state({.executor = "depend"}), 0);
  EXPECT_EQ(allocations_of_steady_state({.watchdog_s = 60}), 0);
  EXPECT_EQ(allocations_of_steady_state({.scheduler = "rex", .executor = "phased"}), 0);
}

}  // namespace
}  // namespace nuice
