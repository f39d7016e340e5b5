// SPDX-License-Identifier: BSD-3-Clause
// What the driver returns on one rank, during an exchange, is an error of all: none waits for that rank.
#include "device/aware_mpi.hpp"
#include "device/device_memory.hpp"
#include "device/device_rows.hpp"
#include "device/fake_driver.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::DeviceWay;
using test::DeviceArray;
using Memory = std::vector<std::byte>;

constexpr std::array<std::string_view, 4> executors = {"async", "phased", "pairwise", "depend"};

/// Carries out exchanges of device memory while the last rank's driver fails: the n-th `call` from now on.
/// All ranks hear of it, at the latest in the exchange after it.
void expect_heard_of(const mpi::PlanOptions& options, const char* call, int n) {
  const Rank last = test::world_size() - 1;
  std::vector<Partner> all;
  for (Rank rank = 0; rank <= last; ++rank) all.push_back({rank, 100000});
  mpi::Plan plan(MPI_COMM_WORLD, all, options);
  const DeviceArray<std::byte> send(Memory(100000 * all.size()));
  const DeviceArray<std::byte> receive(Memory(100000 * all.size()));
  mpi::Exchange exchange = test::bind(plan, send, receive);
  if (test::world_rank() == last) fake_gpu_fail(call, n);
  test::expect_same_error(ErrorCode::device, "rank " + std::to_string(last) + ": cuda cannot ", [&] {
    for (int round = 0; round < 4; ++round) {
      exchange.start();
      round % 2 == 0 ? exchange.wait() : [&] {
        while (exchange.next()) {
        }
      }();
    }
  });
  fake_gpu_fail("", -1);
  EXPECT_THROW(exchange.start(), Error);
}

TEST(DeviceErrors, OfAnExchangeAreThoseOfAll) {
  NUICE_NEEDS_FAKE_GPU();
  if (test::world_size() == 1) return;
  const int of_a_drain = 25 * (test::world_size() - 1) + 10;  // those of fills come before
  for (const std::string_view executor : executors) {
    const mpi::PlanOptions staged = {
        .scheduler = "coloring", .executor = std::string(executor), .device = {DeviceWay::staged, 4096}};
    expect_heard_of(staged, "copy", 0);
    expect_heard_of(staged, "copy", of_a_drain);
    expect_heard_of(
        {.scheduler = "coloring", .executor = std::string(executor), .device = {DeviceWay::direct}},
        "event_record", 0);
  }
  expect_heard_of({.hosts = "2", .combine = true}, "copy", 0);
  expect_heard_of({.hosts = "4", .shared_memory = true}, "copy", 0);
  expect_heard_of({.watchdog_s = 20}, "copy", 0);
  test::set_gpu_aware(true);
  expect_heard_of({}, "event_record", 0);
  test::set_gpu_aware(false);
}

}  // namespace
}  // namespace nuice
