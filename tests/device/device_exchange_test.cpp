// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of device memory are those of host memory, byte for byte: all executors,
// staged and direct, fields, there and back.
#include <random>
#include <thread>

#include "device/aware_mpi.hpp"
#include "device/device_memory.hpp"
#include "device/device_rows.hpp"
#include "device/fake_driver.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/mpi/exchanger.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::DeviceWay;
using mpi::Direction;
using test::DeviceArray;
using test::Memory;
using test::messages;
using test::row;
using test::sum;
using test::TestDriver;

enum class Where { device, host, odd_ranks_on_device, sends_on_device, receives_on_device };

bool is_on_device(Where where, bool is_send) {
  switch (where) {
    case Where::device:
      return true;
    case Where::host:
      return false;
    case Where::odd_ranks_on_device:
      return test::world_rank() % 2 == 1;
    case Where::sends_on_device:
      return is_send;
    case Where::receives_on_device:
      return !is_send;
  }
  return false;
}

/// How an exchange is started and ended.
enum class Manner { wait, test, next, streams };

struct Run {
  mpi::PlanOptions options;
  Where where = Where::device;
  Direction direction = Direction::forwards;
};

/// Memory of one side, on the device or on the host.
struct Side {
  DeviceArray<std::byte> device;
  Memory host;
  bool on_device;

  Side(std::size_t bytes, bool is_on_device)
      : device(Memory(is_on_device ? bytes : 0)), host(is_on_device ? 0 : bytes), on_device(is_on_device) {}
  std::byte* data() { return on_device ? device.data() : host.data(); }
  void set(const Memory& memory) { on_device ? device.upload(memory) : void(host = memory); }
  Memory get() const { return on_device ? device.download() : host; }
};

void carry_out(mpi::Exchange& exchange, Manner manner) {
  if (manner != Manner::streams) exchange.start();
  switch (manner) {
    case Manner::wait:
      exchange.wait();
      break;
    case Manner::test:
      while (!exchange.test()) std::this_thread::yield();
      break;
    case Manner::next:
      while (exchange.next()) {
      }
      break;
    case Manner::streams:
      break;
  }
}

void expect_exchanged(mpi::Plan& plan, const Run& run) {
  const bool is_back = run.direction == Direction::backwards;
  const auto to = is_back ? plan.sources() : plan.destinations();
  const auto from = is_back ? plan.destinations() : plan.sources();
  Side send(sum(to), is_on_device(run.where, true));
  Side receive(sum(from), is_on_device(run.where, false));
  mpi::Exchange exchange =
      plan.bind(mpi::SendArray{send.data(), static_cast<Bytes>(sum(to)), {}},
                mpi::ReceiveArray{receive.data(), static_cast<Bytes>(sum(from)), {}}, run.direction);
  int round = 0;
  for (const Manner manner : {Manner::wait, Manner::test, Manner::next, Manner::wait}) {
    send.set(messages(to, true, ++round));
    carry_out(exchange, manner);
    EXPECT_TRUE(receive.get() == messages(from, false, round))
        << exchange.info().executor << ", " << exchange.info().device << ", round " << round;
  }
  EXPECT_EQ(exchange.info().device.empty(),
            run.where == Where::host || (run.where == Where::odd_ranks_on_device && test::world_size() == 1));
  exchange.free();
}

void expect_everywhere(mpi::PlanOptions options) {
  options.device.chunk_bytes = 32768;
  if (options.hosts == "auto") {  // which cuts no message, as all ranks are on one host
    mpi::Plan whole(MPI_COMM_WORLD, row(), options);
    expect_exchanged(whole, {options, Where::device});
    options.hosts = "1";
  }
  mpi::Plan plan(MPI_COMM_WORLD, row(), options);
  for (const Where where :
       {Where::device, Where::odd_ranks_on_device, Where::sends_on_device, Where::receives_on_device})
    expect_exchanged(plan, {options, where});
  expect_exchanged(plan, {options, Where::device, Direction::backwards});
}

const std::array<std::string_view, 4> executors = {"async", "phased", "pairwise", "depend"};

TEST(DeviceExchange, StagedIsAsOnTheHost) {
  for (const std::string_view executor : executors)
    expect_everywhere(
        {.scheduler = "coloring", .executor = std::string(executor), .device = {.way = DeviceWay::staged}});
}

TEST(DeviceExchange, StagedInOtherForms) {
  const mpi::DeviceOptions staged = {.way = DeviceWay::staged};
  expect_everywhere({.executor = "async", .async = {.max_sends = 2}, .device = staged});
  expect_everywhere({.scheduler = "auto", .device = staged});
  expect_everywhere({.scheduler = "rex", .executor = "phased", .hosts = "1", .device = staged});
  expect_everywhere({.hosts = "2", .combine = true, .device = staged});
  expect_everywhere({.hosts = "4", .shared_memory = true, .device = staged});
  expect_everywhere({.scheduler = "birkhoff", .device = staged});
}

TEST(DeviceExchange, DirectIsAsOnTheHost) {
  NUICE_NEEDS_FAKE_GPU();
  for (const std::string_view executor : executors) {
    const long before = test::num_device_calls();
    expect_everywhere(
        {.scheduler = "coloring", .executor = std::string(executor), .device = {.way = DeviceWay::direct}});
    if (test::world_size() > 1) {
      EXPECT_GT(test::num_device_calls(), before) << executor;
    }
  }
  expect_everywhere({.executor = "async", .async = {.max_sends = 2}, .device = {.way = DeviceWay::direct}});
  expect_everywhere({.hosts = "2", .combine = true, .device = {.way = DeviceWay::direct}});
  expect_everywhere({.hosts = "4", .shared_memory = true, .device = {.way = DeviceWay::direct}});
}

std::string way_of(mpi::PlanOptions options, int rounds = 1) {
  mpi::Plan plan(MPI_COMM_WORLD, row(), options);
  const DeviceArray<std::byte> send(Memory(sum(plan.destinations())));
  const DeviceArray<std::byte> receive(Memory(sum(plan.sources())));
  mpi::Exchange exchange = test::bind(plan, send, receive);
  for (int round = 0; round < rounds; ++round) {
    send.upload(messages(plan.destinations(), true, round));
    exchange.start();
    exchange.wait();
    EXPECT_TRUE(receive.download() == messages(plan.sources(), false, round)) << round;
  }
  std::string text = exchange.info().device;
  for (const mpi::MethodTrial& method : exchange.info().methods) text += " | " + method.name;
  return text;
}

TEST(DeviceExchange, SaysWhichWayAndWhy) {
  NUICE_NEEDS_FAKE_GPU();
  const auto expect_part = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  test::set_gpu_aware(false);
  expect_part(way_of({}),
              "staged: through pinned memory, in chunks of 256 KiB; MPIX_Query_cuda_support says no");
  expect_part(way_of({.device = {.way = DeviceWay::staged}}), "as the option device says");
  expect_part(way_of({.device = {.way = DeviceWay::direct}}),
              "direct: MPI reads and writes the device's memory");
  if (test::world_size() > 3)
    expect_part(
        way_of(
            {.scheduler = "rex", .executor = "phased", .hosts = "1", .device = {.way = DeviceWay::direct}}),
        "the schedule forwards messages");
  test::set_gpu_aware(true);
  const std::string both = way_of({}, 12);
  expect_part(both, "MPIX_Query_cuda_support says yes");
  expect_part(both, "@device=staged");
  expect_part(both, "@device=direct");
  test::set_gpu_aware(false);
}

TEST(DeviceExchange, ErrorsAreThoseOfAllRanks) {
  NUICE_NEEDS_FAKE_GPU();
  const Rank last = test::world_size() - 1;
  mpi::Plan plan(MPI_COMM_WORLD, row(), {});
  const DeviceArray<std::byte> device_send(Memory(sum(plan.destinations())));
  const DeviceArray<std::byte> device_receive(Memory(sum(plan.sources())));
  Memory on_host(sum(plan.destinations()) + sum(plan.sources()));
  const auto buffers = [&](auto partners, auto kind, std::byte* from) {
    std::vector<decltype(kind)> all;
    for (const Partner& partner : partners) {
      all.push_back({from, partner.bytes});
      from += partner.bytes;
    }
    return all;
  };
  auto send = buffers(plan.destinations(), SendBuffer{}, device_send.data());
  const auto receive = buffers(plan.sources(), ReceiveBuffer{}, device_receive.data());
  if (test::world_rank() == last)
    for (SendBuffer& buffer : send)
      if (buffer.bytes > 0) {
        buffer.data = on_host.data();
        break;
      }
  int num_sent = 0;
  for (const SendBuffer& buffer : send) num_sent += buffer.bytes > 0 ? 1 : 0;
  MPI_Bcast(&num_sent, 1, MPI_INT, last, MPI_COMM_WORLD);
  if (num_sent > 1)
    test::expect_same_error(ErrorCode::invalid_argument,
                            "rank " + std::to_string(last) + ": the send buffers lie on ",
                            [&] { (void)plan.bind(send, receive); });
  send = buffers(plan.destinations(), SendBuffer{}, device_send.data());
  for (const char* const call : {"host_alloc", "stream_create"}) {
    if (test::world_rank() == last) fake_gpu_fail(call, 0);
    test::expect_same_error(ErrorCode::device, "cuda cannot", [&] { (void)plan.bind(send, receive); });
    fake_gpu_fail("", -1);
  }
  // And all is as before.
  mpi::Exchange exchange = plan.bind(send, receive);
  device_send.upload(messages(plan.destinations(), true, 1));
  exchange.start();
  exchange.wait();
  EXPECT_TRUE(device_receive.download() == messages(plan.sources(), false, 1));
  EXPECT_THROW(exchange.wait(), Error);
  if (test::world_size() == 1) {
    fake_gpu_fail("copy", 0);
    test::expect_error(ErrorCode::device, "cuda cannot copy: CUDA_ERROR_OUT_OF_MEMORY",
                       [&] { exchange.start(); });
    fake_gpu_fail("", -1);
  }
}

TEST(DeviceExchange, NothingIsAllocatedBetweenStartAndWait) {
  NUICE_NEEDS_FAKE_GPU();
  for (const DeviceWay way : test::device_ways()) {
    mpi::Plan plan(MPI_COMM_WORLD, row(), {.device = {way, 32768}});
    const DeviceArray<std::byte> send(Memory(sum(plan.destinations())));
    const DeviceArray<std::byte> receive(Memory(sum(plan.sources())));
    mpi::Exchange exchange = test::bind(plan, send, receive);
    const long before = fake_gpu_num_allocated();
    for (int round = 0; round < 10; ++round) {
      exchange.start();
      exchange.wait();
    }
    EXPECT_EQ(fake_gpu_num_allocated(), before);
  }
}

/// All that NUICE calls is for the buffers' device, whatever the program's thread has.
TEST(DeviceExchange, AThreadNeedsNoContext) {
  NUICE_NEEDS_FAKE_GPU();
  mpi::Plan plan(MPI_COMM_WORLD, row(), {.device = {.chunk_bytes = 32768}});
  const DeviceArray<std::byte> send(messages(plan.destinations(), true, 1));
  const DeviceArray<std::byte> receive(Memory(sum(plan.sources())));
  void* const stream = TestDriver::get().new_stream(false);
  fake_gpu_use(-1);
  {
    mpi::Exchange exchange = test::bind(plan, send, receive);
    for (const Manner manner : {Manner::wait, Manner::test, Manner::next}) carry_out(exchange, manner);
    exchange.start(stream);
    exchange.wait(stream);
  }
  fake_gpu_use(0);
  TestDriver::get().synchronize(stream);
  EXPECT_TRUE(receive.download() == messages(plan.sources(), false, 1));
}

/// Many small messages leave and come by one kernel each.
TEST(DeviceExchange, SmallMessagesShareAKernel) {
  NUICE_NEEDS_FAKE_GPU();
  std::vector<Partner> many;
  for (int i = 0; i < 40; ++i) many.push_back({i % test::world_size(), 24});
  mpi::Plan plan(MPI_COMM_WORLD, many, {.device = {.way = DeviceWay::staged}});
  const DeviceArray<std::byte> send(Memory(sum(plan.destinations())));
  const DeviceArray<std::byte> receive(Memory(sum(plan.sources())));
  mpi::Exchange exchange = test::bind(plan, send, receive);
  send.upload(messages(plan.destinations(), true, 1));
  const long before = fake_gpu_num_launched();
  exchange.start();
  exchange.wait();
  EXPECT_EQ(fake_gpu_num_launched() - before, test::world_size() > 1 ? 2 : 0);
  EXPECT_EQ(receive.download().size(), sum(plan.sources()));
}

/// Each of the many has its own bytes: those of one rank come in the order in which it lists them.
TEST(DeviceExchange, WithoutAPlan) {
  mpi::Exchanger exchanger(MPI_COMM_WORLD);
  MPI_Datatype gappy = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 5, MPI_INT, &gappy);
  MPI_Type_commit(&gappy);
  const Rank num_ranks = test::world_size();
  constexpr int elements = 4;
  constexpr int span = 13 * elements;  // ints
  std::vector<int> values(static_cast<std::size_t>(span * num_ranks));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i) + 1000 * test::world_rank();
  const DeviceArray<int> send(values);
  const std::vector<int> before(values.size(), -1);
  const DeviceArray<int> receive(before);
  std::vector<mpi::Outgoing> sends;
  std::vector<mpi::Incoming> receives;
  std::vector<int> expected = before;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    sends.push_back({rank, send.data() + span * rank, elements, gappy});
    receives.push_back({rank, receive.data() + span * rank, elements, gappy});
    for (int e = 0; e < elements; ++e)
      for (int block = 0; block < 3; ++block)
        for (int k = 0; k < 2; ++k) {
          const int at = 12 * e + 5 * block + k;
          expected[static_cast<std::size_t>(span * rank + at)] = span * test::world_rank() + at + 1000 * rank;
        }
  }
  for (int round = 0; round < 3; ++round) {
    receive.upload(before);
    exchanger.exchange(sends, receives);
    EXPECT_EQ(receive.download(), expected);
  }
  MPI_Type_free(&gappy);
}

}  // namespace
}  // namespace nuice
