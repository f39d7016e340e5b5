// SPDX-License-Identifier: BSD-3-Clause
// Calls with MPI's arguments on device memory have MPI's results on host memory: any datatypes, in place, and
// unexpected messages.
#include <array>
#include <numeric>

#include "device/aware_mpi.hpp"
#include "device/device_memory.hpp"
#include "device/fake_driver.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/mpi/alltoallv.hpp"
#include "nuice/mpi/sparse_alltoallv.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::DeviceWay;
using test::DeviceArray;
using Counts = std::vector<int>;

/// Two ints of every three.
struct GappyType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  GappyType() {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &type);
    MPI_Type_free(&pair);
    MPI_Type_commit(&type);
  }
  ~GappyType() { MPI_Type_free(&type); }
};

/// Some of no elements, some of more than a chunk. The same for both ends.
int elements(Rank a, Rank b) {
  constexpr std::array<int, 4> sizes = {0, 3, 700, 5000};
  return sizes[static_cast<std::size_t>(a + b + a * b) % sizes.size()];
}

struct Side {
  Counts counts;
  Counts displs;  // in elements
  std::vector<int> values;
};

/// Elements of two ints in room for `width`.
Side side_of(int width, int seed) {
  Side side;
  int at = 0;
  for (Rank rank = 0; rank < test::world_size(); ++rank) {
    side.counts.push_back(elements(test::world_rank(), rank));
    side.displs.push_back(at);
    at += side.counts.back() + 1;
  }
  side.values.resize(static_cast<std::size_t>(width * at));
  std::iota(side.values.begin(), side.values.end(), seed + 1000000 * test::world_rank());
  return side;
}

mpi::SendBlocks send_blocks(const Side& side, const int* data, const MPI_Datatype& type) {
  return {.data = data,
          .counts = {side.counts.data(), side.counts.size()},
          .displs = {side.displs.data(), side.displs.size()},
          .types = {&type, 1}};
}
mpi::ReceiveBlocks receive_blocks(const Side& side, int* data, const MPI_Datatype& type) {
  return {.data = data,
          .counts = {side.counts.data(), side.counts.size()},
          .displs = {side.displs.data(), side.displs.size()},
          .types = {&type, 1}};
}

/// turn 0: on all ranks; else on some.
bool is_on_device(int turn) { return turn == 0 || (test::world_rank() + turn) % 2 == 1; }

/// from: null in place, where each round goes on from the one before.
void expect_as_mpi(const Side* from, MPI_Datatype send_type, const Side& to, MPI_Datatype receive_type,
                   const mpi::PlanOptions& options, int turn) {
  const bool there = is_on_device(turn);
  const std::vector<int> sent = from != nullptr ? from->values : std::vector<int>{};
  const DeviceArray<int> send(sent);
  const DeviceArray<int> receive(to.values);
  std::vector<int> on_host = to.values;
  std::vector<int> expected = to.values;
  const auto room = receive_blocks(to, there ? receive.data() : on_host.data(), receive_type);
  mpi::Exchange exchange =
      from == nullptr ? mpi::alltoallv_init(MPI_COMM_WORLD, mpi::in_place, room, options)
                      : mpi::alltoallv_init(MPI_COMM_WORLD,
                                            send_blocks(*from, there ? send.data() : sent.data(), send_type),
                                            room, options);
  for (int round = 0; round < 3; ++round) {
    const Side& side = from != nullptr ? *from : to;
    MPI_Alltoallv(from != nullptr ? sent.data() : MPI_IN_PLACE, side.counts.data(), side.displs.data(),
                  send_type, expected.data(), to.counts.data(), to.displs.data(), receive_type,
                  MPI_COMM_WORLD);
    exchange.start();
    exchange.wait();
    EXPECT_EQ(there ? receive.download() : on_host, expected) << turn << exchange.info().device;
  }
  exchange.free();
}

class DeviceMessages : public testing::TestWithParam<DeviceWay> {};
INSTANTIATE_TEST_SUITE_P(All, DeviceMessages, testing::ValuesIn(test::device_ways()));

/// Both ends have gaps, one has, or none; in place.
TEST_P(DeviceMessages, AlltoallvIsThatOfMpi) {
  const GappyType gappy;
  MPI_Datatype dense = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &dense);
  MPI_Type_commit(&dense);
  const auto options = [](std::string_view executor) {
    return mpi::PlanOptions{
        .scheduler = "coloring", .executor = std::string(executor), .device = {GetParam(), 1024}};
  };
  const Side gappy_from = side_of(3, 1);
  const Side dense_from = side_of(2, 1);
  const Side gappy_to = side_of(3, -500000);
  const Side dense_to = side_of(2, -500000);
  for (const int turn : {0, 1, 2}) {
    expect_as_mpi(&gappy_from, gappy.type, gappy_to, gappy.type, options("async"), turn);
    expect_as_mpi(&dense_from, dense, gappy_to, gappy.type, options("async"), turn);
    expect_as_mpi(&dense_from, dense, dense_to, dense, options("async"), turn);
    for (const auto& [side, type] : {std::pair(gappy_to, gappy.type), {dense_to, dense}})
      expect_as_mpi(nullptr, type, side, type, options(turn == 0 ? "async" : "depend"), turn);
  }
  MPI_Type_free(&dense);
}

/// Without a plan, and found again: the second call has other memory, the third the first one's.
TEST(DeviceCalls, AlltoallvIsThatOfMpi) {
  const GappyType gappy;
  for (const int turn : {0, 1, 2}) {
    const Side from = side_of(3, 1);
    const Side to = side_of(3, -500000);
    const bool there = is_on_device(turn);
    const std::array<DeviceArray<int>, 2> send = {DeviceArray<int>(from.values),
                                                  DeviceArray<int>(from.values)};
    const std::array<DeviceArray<int>, 2> receive = {DeviceArray<int>(to.values),
                                                     DeviceArray<int>(to.values)};
    std::vector<int> on_host = to.values;
    for (const std::size_t round : {0U, 1U, 0U}) {
      std::vector<int> sent = from.values;
      for (int& value : sent) value += 7 * static_cast<int>(round);
      std::vector<int> expected = to.values;
      MPI_Alltoallv(sent.data(), from.counts.data(), from.displs.data(), gappy.type, expected.data(),
                    to.counts.data(), to.displs.data(), gappy.type, MPI_COMM_WORLD);
      send[round].upload(sent);
      mpi::alltoallv(MPI_COMM_WORLD, send_blocks(from, there ? send[round].data() : sent.data(), gappy.type),
                     receive_blocks(to, there ? receive[round].data() : on_host.data(), gappy.type));
      EXPECT_EQ(there ? receive[round].download() : on_host, expected) << turn << round;
    }
    std::vector<int> expected = to.values;
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, expected.data(), to.counts.data(),
                  to.displs.data(), gappy.type, MPI_COMM_WORLD);
    receive[0].upload(to.values);
    on_host = to.values;
    mpi::alltoallv(MPI_COMM_WORLD, mpi::in_place,
                   receive_blocks(to, there ? receive[0].data() : on_host.data(), gappy.type));
    EXPECT_EQ(there ? receive[0].download() : on_host, expected) << turn << "in place";
  }
}

TEST(DeviceCalls, AnErrorIsOneOfAll) {
  NUICE_NEEDS_FAKE_GPU();
  if (test::world_size() == 1) return;  // whose messages are empty here
  MPI_Comm comm = MPI_COMM_NULL;        // all its calls fail from then on
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const Rank last = test::world_size() - 1;
  const Side side = side_of(1, 3);
  const DeviceArray<int> send(side.values);
  const DeviceArray<int> receive(side.values);
  const auto call = [&] {
    mpi::alltoallv(comm, send_blocks(side, send.data(), MPI_INT),
                   receive_blocks(side, receive.data(), MPI_INT));
  };
  call();
  if (test::world_rank() == last) fake_gpu_fail("event_record", 0);
  test::expect_same_error(ErrorCode::device, "cuda cannot record an event", [&] {
    call();
    call();
  });
  fake_gpu_fail("", -1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

/// Short messages and long ones, some of memory with gaps.
TEST(DeviceSparse, AnyRankSendsFromItsDevice) {
  const GappyType gappy;
  const Rank rank = test::world_rank();
  const Rank right = (rank + 1) % test::world_size();
  std::vector<int> values(12000);
  std::iota(values.begin(), values.end(), 100000 * rank);
  const DeviceArray<int> on_device(values);
  const auto call = [&](const int* data) {
    const std::vector<mpi::Outgoing> sends = {
        {right, data, 3, gappy.type}, {right, data + 9, 3000, gappy.type}, {0, data + 100, 20, MPI_INT}};
    const mpi::Received received = mpi::sparse_alltoallv(MPI_COMM_WORLD, sends);
    std::vector<std::vector<int>> all;
    for (std::size_t i = 0; i < received.sources.size(); ++i) {
      const auto message = received.message<int>(i);
      all.emplace_back(message.begin(), message.end());
    }
    return all;
  };
  const auto expected = call(values.data());
  EXPECT_GE(expected.size(), 2U);
  EXPECT_EQ(call(on_device.data()), expected);
}

}  // namespace
}  // namespace nuice
