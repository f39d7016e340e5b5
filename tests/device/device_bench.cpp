// SPDX-License-Identifier: BSD-3-Clause
// What tools/gpu-check.sh measures, on two ranks and the driver that is preloaded; prints JSON. --quick: on the fake device.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "device/device_memory.hpp"
#include "device/indexed_copy.hpp"
#include "nuice/mpi.hpp"

namespace {

using nuice::test::DeviceArray;
using nuice::test::TestDriver;
using Memory = std::vector<std::byte>;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The median of some runs, of the slowest rank.
template <typename Step>
double median_s(int runs, Step&& step) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = now_s();
    step();
    double took_s = now_s() - begin_s;
    MPI_Allreduce(MPI_IN_PLACE, &took_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    times.push_back(took_s);
  }
  std::ranges::nth_element(times, times.begin() + runs / 2);
  return times[static_cast<std::size_t>(runs / 2)];
}

struct Bench {
  int rank = 0;
  int runs = 30;

  /// Copy all, send all, copy all: what programs do by hand, over NUICE's staging.
  double staged_over_copy_all(std::size_t bytes) const {
    const int other = 1 - rank;
    const DeviceArray<std::byte> send((Memory(bytes)));
    const DeviceArray<std::byte> receive((Memory(bytes)));
    const TestDriver& driver = TestDriver::get();
    void* const from = driver.allocate_pinned(bytes);
    void* const into = driver.allocate_pinned(bytes);
    const double by_hand_s = median_s(runs, [&] {
      driver.copy(from, send.data(), bytes, nullptr);
      driver.synchronize(nullptr);
      MPI_Sendrecv(from, static_cast<int>(bytes), MPI_BYTE, other, 0, into, static_cast<int>(bytes), MPI_BYTE,
                   other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      driver.copy(receive.data(), into, bytes, nullptr);
      driver.synchronize(nullptr);
    });
    const auto size = static_cast<nuice::Bytes>(bytes);
    const std::vector<nuice::Partner> to = {{other, size}};
    nuice::mpi::Plan plan(MPI_COMM_WORLD, to, {.device = {.way = nuice::mpi::DeviceWay::staged}});
    nuice::mpi::Exchange exchange = plan.bind(nuice::mpi::SendArray{send.data(), size, {}},
                                              nuice::mpi::ReceiveArray{receive.data(), size, {}});
    const double ours_s = median_s(runs, [&] {
      exchange.start();
      exchange.wait();
    });
    return by_hand_s / ours_s;
  }

  /// A rank's message to itself, which the device copies, over the driver's own copy.
  double copy_over_memcpy(std::size_t bytes) const {
    const DeviceArray<std::byte> send((Memory(bytes)));
    const TestDriver& driver = TestDriver::get();
    void* const pinned = driver.allocate_pinned(bytes);
    const double driver_s = median_s(runs, [&] {
      driver.copy(pinned, send.data(), bytes, nullptr);
      driver.synchronize(nullptr);
    });
    const auto at = nuice::device::locate(send.data());
    const nuice::device::Current current(at);
    const nuice::device::Stream stream(at);
    const nuice::device::Event over(at);
    constexpr std::size_t chunk = std::size_t{1} << 20;
    const double ours_s = median_s(runs, [&] {
      for (std::size_t i = 0; i < bytes; i += chunk)
        stream.copy(static_cast<std::byte*>(pinned) + i, send.data() + i, std::min(chunk, bytes - i));
      over.record(stream.get());
      over.wait();
    });
    return driver_s / ours_s;
  }

  double pack_s(std::size_t all, std::size_t some) const {
    const DeviceArray<double> values((std::vector<double>(all)));
    const DeviceArray<double> packed((std::vector<double>(some)));
    std::vector<nuice::device::Index> index(some);
    for (std::size_t i = 0; i < some; ++i)
      index[i] = static_cast<nuice::device::Index>(i * 2654435761U % all);
    const auto at = nuice::device::locate(values.data());
    const nuice::device::Current current(at);
    const nuice::device::IndexedCopy copy(at, reinterpret_cast<std::byte*>(values.data()), 8,
                                          std::move(index));
    const nuice::device::Stream stream(at);
    const nuice::device::Event over(at);
    return median_s(runs, [&] {
      copy.gather(reinterpret_cast<std::byte*>(packed.data()), 0, copy.bytes(), stream);
      over.record(stream.get());
      over.wait();
    });
  }

  static double check_ns() {
    const int on_host = 0;
    constexpr int times = 100000;
    int found = 0;
    const double begin_s = now_s();
    for (int i = 0; i < times; ++i) found += nuice::device::any_driver() ? 1 : 0;
    const double took_s = now_s() - begin_s;
    return found == times || on_host == 0 ? took_s / times * 1e9 : 0;
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Bench bench;
  MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
  const bool is_quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  if (is_quick) bench.runs = 3;
  const std::size_t largest = std::size_t{1} << (is_quick ? 22 : 26);
  (void)TestDriver::get();
  std::string staged;
  for (std::size_t bytes = std::size_t{1} << 20; bytes <= largest; bytes *= 4) {
    const double ratio = bench.staged_over_copy_all(bytes);
    staged += (staged.empty() ? "" : ", ") + ("\"" + std::to_string(bytes) + "\": ") + std::to_string(ratio);
  }
  const double copy = bench.copy_over_memcpy(largest);
  const double pack = is_quick ? bench.pack_s(1 << 14, 1 << 12) : bench.pack_s(1 << 24, 1 << 22);
  if (bench.rank == 0)
    std::printf(
        "{\"staged_over_copy_all\": {%s}, \"copy_over_memcpy\": %.3f, \"pack_s\": %.9f, \"bind_check_ns\": "
        "%.1f}\n",
        staged.c_str(), copy, pack, Bench::check_ns());
  MPI_Finalize();
}
