// SPDX-License-Identifier: BSD-3-Clause
// Halos of values in a device's memory do as in the host's, bit for bit.
#include "device/aware_mpi.hpp"
#include "device/device_memory.hpp"
#include "device/fake_driver.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/mpi/halo.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::DeviceWay;
using mpi::Wire;
using test::DeviceArray;
using test::TestDriver;

constexpr std::size_t num_owned = 50;

/// Every rank owns as many entries and needs a third of all.
mpi::Halo halo_with(mpi::PlanOptions options) {
  std::vector<mpi::GlobalIndex> begins;
  for (Rank r = 0; r <= test::world_size(); ++r) begins.push_back(std::int64_t{num_owned} * r);
  std::vector<mpi::GlobalIndex> needed;
  for (mpi::GlobalIndex g = 0; g < begins.back(); ++g)
    if ((g + test::world_rank()) % 3 == 0) needed.push_back(g);
  return {MPI_COMM_WORLD, mpi::Ownership::ranges(begins), needed, options};
}

std::vector<double> values_for(const mpi::Halo& halo, int components) {
  std::vector<double> values(halo.num_entries() * static_cast<std::size_t>(components));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 1.0 / static_cast<double>(i + 3 + 1000 * static_cast<std::size_t>(test::world_rank()));
  return values;
}

/// Started and ended in each way, also by a stream that alone keeps the order: it writes what is sent, late.
void carry_out(mpi::HaloExchange& exchange, int round, std::span<const DeviceArray<double>* const> sent) {
  static void* const stream = TestDriver::get().new_stream(false);
  std::vector<std::vector<double>> right;
  for (const DeviceArray<double>* const array : sent) right.push_back(array->download());
  const std::vector<double> wrong(1000, -7);
  for (std::size_t i = 0; i < sent.size() && round > 0; ++i) {
    const std::size_t bytes = right[i].size() * sizeof(double);
    if (bytes == 0) continue;
    TestDriver::get().copy(sent[i]->data(), wrong.data(), bytes, stream);
    TestDriver::get().copy(sent[i]->data(), right[i].data(), bytes, stream);
  }
  round == 0 ? exchange.start() : exchange.start(stream);
  if (round == 1) {
    while (!exchange.test()) {
    }
  } else {
    round == 0 ? exchange.wait() : exchange.wait(stream);
  }
  TestDriver::get().synchronize(stream);
}

/// Gathers and scatters alternately. here: on the host; there: on the device, all
/// of it or owned values or ghosts alone.
void expect_same(mpi::Halo& on_host, mpi::Halo& on_device, int components, Wire wire) {
  std::vector<double> expected = values_for(on_host, components);
  const std::size_t owned = num_owned * static_cast<std::size_t>(components);
  std::vector<double> owned_here(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(owned));
  std::vector<double> ghosts_here(expected.begin() + static_cast<std::ptrdiff_t>(owned), expected.end());
  const DeviceArray<double> owned_there(owned_here);
  const DeviceArray<double> ghosts_there(ghosts_here);
  const std::span owned_expected = std::span(expected).first(owned);
  const std::span ghosts_expected = std::span(expected).subspan(owned);
  for (const auto& [has_owned, has_ghosts] : {std::pair(true, true), {true, false}, {false, true}}) {
    const std::span<double> values = has_owned ? std::span(owned_there.data(), owned) : std::span(owned_here);
    const std::span<double> ghosts =
        has_ghosts ? std::span(ghosts_there.data(), ghosts_there.size()) : std::span(ghosts_here);
    const auto require_equal = [&](const char* what, int round) {
      const std::vector<double> got_owned = has_owned ? owned_there.download() : owned_here;
      const std::vector<double> got_ghosts = has_ghosts ? ghosts_there.download() : ghosts_here;
      EXPECT_TRUE(std::ranges::equal(got_owned, owned_expected)) << what << round << has_owned << has_ghosts;
      EXPECT_TRUE(std::ranges::equal(got_ghosts, ghosts_expected))
          << what << round << has_owned << has_ghosts;
    };
    mpi::HaloExchange gather = on_host.bind_gather(
        std::vector{mpi::gather_field(owned_expected, ghosts_expected, components, wire)});
    mpi::HaloExchange scatter = on_host.bind_scatter(
        std::vector{mpi::scatter_field(ghosts_expected, owned_expected, components, std::plus<>(), wire)});
    mpi::HaloExchange device_gather =
        on_device.bind_gather(std::vector{mpi::gather_field(values, ghosts, components, wire)});
    mpi::HaloExchange device_scatter = on_device.bind_scatter(
        std::vector{mpi::scatter_field(ghosts, values, components, std::plus<>(), wire)});
    const auto upload = [&] {
      owned_here.assign(owned_expected.begin(), owned_expected.end());
      ghosts_here.assign(ghosts_expected.begin(), ghosts_expected.end());
      owned_there.upload(owned_here);
      ghosts_there.upload(ghosts_here);
    };
    upload();
    for (int round = 0; round < 3; ++round) {
      gather.start();
      gather.wait();
      carry_out(device_gather, round, std::array{&owned_there});
      require_equal("gather", round);
      scatter.start();
      scatter.wait();
      carry_out(device_scatter, round, std::array{&owned_there, &ghosts_there});
      require_equal("scatter", round);
    }
  }
}

TEST(DeviceHalo, IsThatOfTheHost) {
  for (const DeviceWay way : test::device_ways()) {
    mpi::Halo halo = halo_with({.scheduler = "coloring", .device = {.way = way}});
    for (const int components : {1, 3}) expect_same(halo, halo, components, Wire::as_is);
  }
}

TEST(DeviceHalo, ValuesTravelShorterAsOnTheHost) {
  for (const DeviceWay way : test::device_ways()) {
    mpi::Halo halo = halo_with({.scheduler = "coloring", .device = {.way = way}});
    for (const Wire wire : {Wire::float32, Wire::bfloat16}) expect_same(halo, halo, 2, wire);
  }
}

/// They cross from rank to rank, whatever the halo does with values on the
/// host; contributions add up in that order.
TEST(DeviceHalo, OfOneThatCrossesOncePerHost) {
  mpi::Halo once = halo_with({.scheduler = "coloring", .hosts = "2"});
  mpi::Halo not_once = halo_with({.scheduler = "coloring", .hosts = "2", .once_per_host = false});
  expect_same(not_once, once, 2, Wire::as_is);
}

/// Of a kernel that packs, or of copies to the host: before the exchange begins.
TEST(DeviceHalo, AnErrorUnderWayIsOneOfAll) {
  NUICE_NEEDS_FAKE_GPU();
  const Rank last = test::world_size() - 1;
  for (const bool is_scatter : {false, true}) {
    mpi::Halo halo = halo_with({.scheduler = "coloring"});
    const DeviceArray<double> values(values_for(halo, 1));
    const std::span all(values.data(), values.size());
    mpi::HaloExchange exchange = is_scatter ? halo.bind_scatter(all) : halo.bind_gather(all);
    if (test::world_rank() == last) fake_gpu_fail("event_record", 0);
    test::expect_same_error(ErrorCode::device, "cuda cannot record an event", [&] {
      exchange.start();
      exchange.wait();
    });
    fake_gpu_fail("", -1);
  }
}

TEST(DeviceHalo, AnErrorOnOneRankIsOneOfAll) {
  NUICE_NEEDS_FAKE_GPU();
  const Rank last = test::world_size() - 1;
  mpi::Halo halo = halo_with({.scheduler = "coloring"});
  const DeviceArray<double> values(values_for(halo, 1));
  const std::span all(values.data(), values.size());
  for (const bool is_scatter : {false, true}) {
    if (test::world_rank() == last) fake_gpu_fail("stream_create", 0);
    test::expect_same_error(ErrorCode::device, "cuda cannot make a stream", [&] {
      if (is_scatter)
        (void)halo.bind_scatter(all);
      else
        (void)halo.bind_gather(all);
    });
    fake_gpu_fail("", -1);
  }
}

}  // namespace
}  // namespace nuice
