// SPDX-License-Identifier: BSD-3-Clause
// Streams and events alone keep the order of the program's work and of what exchanges copy.
#include "device/aware_mpi.hpp"
#include "device/device_memory.hpp"
#include "device/device_rows.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::DeviceWay;
using test::DeviceArray;
using test::Memory;
using test::messages;
using test::row;
using test::sum;
using test::TestDriver;

/// The program writes what is sent, and reads what has come, by streams alone: nothing else makes it wait.
TEST(DeviceOrder, StreamsKeepTheOrder) {
  for (const DeviceWay way : test::device_ways()) {
    mpi::Plan plan(MPI_COMM_WORLD, row(), {.executor = "async", .device = {way, 32768}});
    const Memory zero(sum(plan.destinations()));
    const DeviceArray<std::byte> send(zero);
    const DeviceArray<std::byte> receive(Memory(sum(plan.sources())));
    mpi::Exchange exchange = test::bind(plan, send, receive);
    const TestDriver& driver = TestDriver::get();
    void* const own = driver.new_stream(false);
    for (const bool has_stream : {true, false}) {
      void* const stream = has_stream ? own : nullptr;
      for (int round = 0; round < 5; ++round) {
        const Memory sent = messages(plan.destinations(), true, round);
        Memory come(receive.size());
        driver.copy(send.data(), zero.data(), zero.size(), stream);
        if (!sent.empty()) driver.copy(send.data(), sent.data(), sent.size(), stream);
        has_stream ? exchange.start(stream) : exchange.start();
        has_stream ? exchange.wait(stream) : exchange.wait();
        if (!come.empty()) driver.copy(come.data(), receive.data(), come.size(), stream);
        driver.synchronize(stream);
        EXPECT_TRUE(come == messages(plan.sources(), false, round))
            << has_stream << round << exchange.info().device;
      }
    }
  }
}

/// Only streams wait between one exchange and the next: what the next one
/// receives does not overtake what is drained.
TEST(DeviceOrder, StreamsKeepTheOrderOfExchanges) {
  constexpr int rounds = 20;
  for (const DeviceWay way : test::device_ways()) {
    mpi::Plan plan(MPI_COMM_WORLD, row(), {.executor = "async", .device = {way, 32768}});
    const DeviceArray<std::byte> send(Memory(sum(plan.destinations())));
    const DeviceArray<std::byte> receive(Memory(sum(plan.sources())));
    mpi::Exchange exchange = test::bind(plan, send, receive);
    const TestDriver& driver = TestDriver::get();
    void* const stream = driver.new_stream(false);
    std::vector<Memory> sent;
    std::vector<Memory> come(rounds, Memory(receive.size()));
    for (int round = 0; round < rounds; ++round) sent.push_back(messages(plan.destinations(), true, round));
    for (std::size_t round = 0; round < rounds; ++round) {
      if (send.size() > 0) driver.copy(send.data(), sent[round].data(), sent[round].size(), stream);
      exchange.start(stream);
      exchange.wait(stream);
      if (receive.size() > 0) driver.copy(come[round].data(), receive.data(), receive.size(), stream);
    }
    driver.synchronize(stream);
    for (int round = 0; round < rounds; ++round)
      EXPECT_TRUE(come[static_cast<std::size_t>(round)] == messages(plan.sources(), false, round)) << round;
  }
}

/// The program reads it by a stream that waits for nothing.
TEST(DeviceOrder, AMessageThatIsHandedOverIsThere) {
  constexpr std::size_t bytes = 3000;
  std::vector<Partner> all;
  for (Rank rank = 0; rank < test::world_size(); ++rank) all.push_back({rank, Bytes{bytes}});
  mpi::Plan plan(MPI_COMM_WORLD, all, {.executor = "async", .device = {.way = DeviceWay::staged}});
  const DeviceArray<std::byte> send(Memory(bytes * all.size()));
  const DeviceArray<std::byte> receive(Memory(bytes * all.size()));
  mpi::Exchange exchange = test::bind(plan, send, receive);
  const TestDriver& driver = TestDriver::get();
  void* const stream = driver.new_stream(false);
  for (int round = 0; round < 20; ++round) {
    send.upload(messages(plan.destinations(), true, round));
    const Memory expected = messages(plan.sources(), false, round);
    exchange.start();
    while (const auto arrival = exchange.next()) {
      const std::size_t at = bytes * arrival->index;
      Memory come(bytes);
      driver.copy(come.data(), receive.data() + at, bytes, stream);
      driver.synchronize(stream);
      EXPECT_TRUE(std::ranges::equal(come, std::span(expected).subspan(at, bytes))) << round;
    }
  }
}

}  // namespace
}  // namespace nuice
