// SPDX-License-Identifier: BSD-3-Clause
// Fields with datatypes in a device's memory do as in the host's, bit for bit.
#include "device/aware_mpi.hpp"
#include "device/device_memory.hpp"
#include "device/fake_driver.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::DeviceWay;
using mpi::Direction;
using test::DeviceArray;
using Counts = std::vector<std::int64_t>;

/// Three doubles, each behind another that is not sent, and backwards in the second half of them.
struct GappyType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  GappyType() {
    const std::array<int, 3> lengths = {1, 1, 1};
    const std::array<int, 3> places = {4, 0, 2};
    MPI_Datatype indexed = MPI_DATATYPE_NULL;
    MPI_Type_indexed(3, lengths.data(), places.data(), MPI_DOUBLE, &indexed);
    MPI_Type_create_resized(indexed, 0, 6 * sizeof(double), &type);
    MPI_Type_free(&indexed);
    MPI_Type_commit(&type);
  }
  ~GappyType() { MPI_Type_free(&type); }
};

std::vector<Partner> row() {
  std::vector<Partner> elements;
  for (Rank dst = test::world_size(); dst-- > 0;)
    elements.push_back(
        {dst, (dst + test::world_rank()) % 3 == 0 ? 1500 + dst : 7 * ((dst + test::world_rank()) % 4)});
  return elements;
}

struct Sides {
  std::vector<double> gappy;
  std::vector<float> plain;
  Counts counts;
  Counts plain_counts;
  Counts plain_offsets;
};

Sides sides_for(std::span<const Partner> partners, bool is_send) {
  Sides sides;
  std::int64_t sum = 0;
  for (const Partner& partner : partners) {
    sides.counts.push_back(partner.bytes);
    sides.plain_counts.push_back(2 * partner.bytes);
    sum += partner.bytes;
  }
  sides.gappy.assign(static_cast<std::size_t>(6 * sum), -1);
  sides.plain.assign(static_cast<std::size_t>(2 * sum) + partners.size() + 1, -1);
  sides.plain_offsets.resize(partners.size());
  std::int64_t at = 1;
  for (std::size_t i = partners.size(); i-- > 0; at += sides.plain_counts[i] + 1) sides.plain_offsets[i] = at;
  if (!is_send) return sides;
  const int rank = test::world_rank();
  for (std::size_t i = 0; i < sides.gappy.size(); ++i) sides.gappy[i] = rank + static_cast<double>(i) / 4096;
  for (std::size_t i = 0; i < sides.plain.size(); ++i)
    sides.plain[i] = static_cast<float>(rank * 100000 + static_cast<int>(i));
  return sides;
}

void expect_as_on_host(mpi::Plan& plan, Direction direction, bool sends_on_device, bool receives_on_device) {
  const GappyType gappy;
  const bool is_back = direction == Direction::backwards;
  const Sides from = sides_for(is_back ? plan.sources() : plan.destinations(), true);
  const Sides to = sides_for(is_back ? plan.destinations() : plan.sources(), false);
  const auto exchange_between = [&](const double* gappy_from, const float* plain_from, double* gappy_to,
                                    float* plain_to) {
    const std::vector<mpi::SendField> send = {{gappy_from, gappy.type, from.counts, {}},
                                              {plain_from, MPI_FLOAT, from.plain_counts, from.plain_offsets}};
    const std::vector<mpi::ReceiveField> receive = {{gappy_to, gappy.type, to.counts, {}},
                                                    {plain_to, MPI_FLOAT, to.plain_counts, to.plain_offsets}};
    mpi::Exchange exchange = plan.bind(send, receive, direction);
    for (int round = 0; round < 2; ++round) {
      exchange.start();
      round == 0 ? exchange.wait() : [&] {
        while (exchange.next()) {
        }
      }();
    }
  };
  Sides expected = to;
  exchange_between(from.gappy.data(), from.plain.data(), expected.gappy.data(), expected.plain.data());
  Sides on_host = to;
  const DeviceArray<double> gappy_from(from.gappy);
  const DeviceArray<float> plain_from(from.plain);
  const DeviceArray<double> gappy_to(to.gappy);
  const DeviceArray<float> plain_to(to.plain);
  exchange_between(sends_on_device ? gappy_from.data() : from.gappy.data(),
                   sends_on_device ? plain_from.data() : from.plain.data(),
                   receives_on_device ? gappy_to.data() : on_host.gappy.data(),
                   receives_on_device ? plain_to.data() : on_host.plain.data());
  EXPECT_EQ(receives_on_device ? gappy_to.download() : on_host.gappy, expected.gappy);
  EXPECT_EQ(receives_on_device ? plain_to.download() : on_host.plain, expected.plain);
}

TEST(DeviceFields, AreThoseOfTheHost) {
  for (const DeviceWay way : test::device_ways()) {
    for (const char* const executor : {"phased", "async", "depend"}) {
      mpi::Plan plan(MPI_COMM_WORLD, row(), {.executor = executor, .device = {way, 4096}});
      const bool is_odd = test::world_rank() % 2 == 1;
      expect_as_on_host(plan, Direction::forwards, true, true);
      expect_as_on_host(plan, Direction::forwards, is_odd, !is_odd);
      expect_as_on_host(plan, Direction::backwards, true, true);
    }
  }
  mpi::Plan forwarding(MPI_COMM_WORLD, row(), {.scheduler = "bruck", .executor = "phased"});
  expect_as_on_host(forwarding, Direction::forwards, true, true);
}

}  // namespace
}  // namespace nuice
