// SPDX-License-Identifier: BSD-3-Clause
// What tools/gpu-check.sh measures with the driver that is preloaded; prints JSON.
//
//   device_bench           on 2 ranks: staged exchanges; on 1: copies, the pack kernel, the check of pointers
//   device_bench --quick   the same in short, for the fake device
//   device_bench --check   on 1 rank, without a driver: the check of pointers, in ns
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "device/device_memory.hpp"
#include "device/indexed_copy.hpp"
#include "exchange/staging/mirror.hpp"
#include "nuice/mpi.hpp"

namespace {

using nuice::test::DeviceArray;
using nuice::test::TestDriver;
using Memory = std::vector<std::byte>;

constexpr std::size_t kib = 1024;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The median of some runs, of the slowest rank.
template <typename Step>
double median_s(int runs, Step&& step) {
  std::vector<double> times;
  step();
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

bool is_mpi_aware() {
  const auto query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  return query != nullptr && query() == 1;
}

/// Buffers of `bytes`, on the GPU or in the host's memory.
class Buffer {
 public:
  Buffer(std::size_t bytes, bool on_gpu)
      : on_host_(on_gpu ? 0 : bytes), on_gpu_(Memory(on_gpu ? bytes : 1)) {}
  std::byte* data() { return on_host_.empty() ? on_gpu_.data() : on_host_.data(); }

 private:
  Memory on_host_;
  DeviceArray<std::byte> on_gpu_;
};

/// Copy all, send all, copy all: what programs do by hand. Over it NUICE's staging, by bytes of a chunk.
/// `mpi_s`: the part of MPI alone, the host's memory to the host's. `direct`: where MPI is GPU-aware. Bytes:
/// of a chunk, as if the ranks were on two hosts; on one, messages are whole.
/// rank_1_too: the GPU is shared by both ranks, which without MPS take turns; otherwise rank 1 has host
/// memory.
std::string staged_over_copy_all(int runs, int rank, std::size_t bytes, bool rank_1_too) {
  const int other = 1 - rank;
  const bool on_gpu = rank == 0 || rank_1_too;
  Buffer send(bytes, on_gpu);
  Buffer receive(bytes, on_gpu);
  const TestDriver& driver = TestDriver::get();
  void* const from = driver.allocate_pinned(bytes);
  void* const into = driver.allocate_pinned(bytes);
  const auto exchange_on_host = [&] {
    MPI_Sendrecv(from, static_cast<int>(bytes), MPI_BYTE, other, 0, into, static_cast<int>(bytes), MPI_BYTE,
                 other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  const double mpi_s = median_s(runs, exchange_on_host);
  const double by_hand_s = median_s(runs, [&] {
    if (on_gpu) {
      driver.copy(from, send.data(), bytes, nullptr);
      driver.synchronize(nullptr);
    }
    exchange_on_host();
    if (!on_gpu) return;
    driver.copy(receive.data(), into, bytes, nullptr);
    driver.synchronize(nullptr);
  });
  const auto size = static_cast<nuice::Bytes>(bytes);
  const std::vector<nuice::Partner> to = {{other, size}};
  const auto gain = [&](const nuice::mpi::DeviceOptions& options, const char* hosts) {
    nuice::mpi::PlanOptions plan_options{.device = options};
    plan_options.hosts = hosts;
    nuice::mpi::Plan plan(MPI_COMM_WORLD, to, plan_options);
    nuice::mpi::Exchange exchange = plan.bind(nuice::mpi::SendArray{send.data(), size, {}},
                                              nuice::mpi::ReceiveArray{receive.data(), size, {}});
    const double ours_s = median_s(runs, [&] {
      exchange.start();
      exchange.wait();
    });
    return std::to_string(by_hand_s / ours_s);
  };
  nuice::mpi::DeviceOptions options{.way = nuice::mpi::DeviceWay::staged};
  std::string all = "\"default\": " + gain(options, "auto");
  for (const std::size_t chunk : {256 * kib, 1024 * kib, 4096 * kib}) {
    options.chunk_bytes = static_cast<nuice::Bytes>(chunk);
    all += ", \"" + std::to_string(chunk) + "\": " + gain(options, "1");
  }
  if (is_mpi_aware()) all += ", \"direct\": " + gain({.way = nuice::mpi::DeviceWay::direct}, "auto");
  return "{\"mpi_s\": " + std::to_string(mpi_s) + ", \"by_hand_s\": " + std::to_string(by_hand_s) + ", " +
         all + "}";
}

/// The driver's own copy into pinned memory, over the same in chunks, as messages are staged.
double copy_over_memcpy(int runs, std::size_t bytes) {
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
  const std::vector<nuice::Bytes> ends =
      nuice::mpi::ends_of_copies(static_cast<nuice::Bytes>(bytes), nuice::mpi::DeviceOptions().chunk_bytes);
  const double ours_s = median_s(runs, [&] {
    std::size_t begin = 0;
    for (const nuice::Bytes end : ends) {
      const std::size_t copied = static_cast<std::size_t>(end) - begin;
      stream.copy(static_cast<std::byte*>(pinned) + begin, send.data() + begin, copied);
      begin += copied;
    }
    over.record(stream.get());
    over.wait();
  });
  return driver_s / ours_s;
}

/// As tests/device/cupy_take.py: several in a row, as a kernel alone is not much longer than waiting for it.
double pack_s(int runs, std::size_t all, std::size_t some) {
  constexpr int in_a_row = 20;
  const DeviceArray<double> values((std::vector<double>(all)));
  const DeviceArray<double> packed((std::vector<double>(some)));
  std::vector<nuice::device::Index> index(some);
  for (std::size_t i = 0; i < some; ++i) index[i] = static_cast<nuice::device::Index>(i * 2654435761U % all);
  const auto at = nuice::device::locate(values.data());
  const nuice::device::Current current(at);
  const nuice::device::IndexedCopy copy(at, reinterpret_cast<std::byte*>(values.data()), 8, std::move(index));
  const nuice::device::Stream stream(at);
  const nuice::device::Event over(at);
  return median_s(runs,
                  [&] {
                    for (int i = 0; i < in_a_row; ++i)
                      copy.gather(reinterpret_cast<std::byte*>(packed.data()), 0, copy.bytes(), stream);
                    over.record(stream.get());
                    over.wait();
                  }) /
         in_a_row;
}

/// Messages with gaps between them, into pinned memory: a copy for each, over one
/// kernel for all. Mirror chooses by these.
double copies_over_kernel(int runs, std::size_t messages, std::size_t bytes) {
  const DeviceArray<std::byte> values((Memory(2 * messages * bytes)));
  auto* const pinned = static_cast<std::byte*>(TestDriver::get().allocate_pinned(messages * bytes));
  std::vector<nuice::device::Index> index;
  for (std::size_t i = 0; i < messages * bytes / 8; ++i)
    index.push_back(static_cast<nuice::device::Index>(i + i * 8 / bytes * bytes / 8));
  const auto at = nuice::device::locate(values.data());
  const nuice::device::Current current(at);
  const nuice::device::IndexedCopy kernel(at, values.data(), 8, std::move(index));
  const nuice::device::Stream stream(at);
  const nuice::device::Event over(at);
  const auto timed = [&](auto&& put) {
    return median_s(runs, [&] {
      put();
      over.record(stream.get());
      over.wait();
    });
  };
  const double copies_s = timed([&] {
    for (std::size_t i = 0; i < messages; ++i)
      stream.copy(pinned + i * bytes, values.data() + 2 * i * bytes, bytes);
  });
  return copies_s / timed([&] { kernel.gather(pinned, 0, kernel.bytes(), stream); });
}

/// What a pointer of the host's costs when buffers are bound.
double check_ns() {
  constexpr int times = 100000;
  const Memory on_host(times);
  int found = 0;
  const double begin_s = now_s();
  for (const std::byte& byte : on_host) found += nuice::device::locate(&byte).is_on_device() ? 1 : 0;
  const double took_s = now_s() - begin_s;
  if (found > 0) std::abort();
  return took_s / times * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string_view option = argc > 1 ? argv[1] : "";
  int rank = 0;
  int num_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const bool is_quick = option == "--quick";
  const int runs = is_quick ? 3 : 30;
  const std::size_t largest = std::size_t{1} << (is_quick ? 22 : 26);
  if (option == "--check") {
    std::printf("%.1f\n", check_ns());
  } else if (num_ranks == 1) {
    (void)TestDriver::get();
    const double copy = copy_over_memcpy(runs, largest);
    const double pack = is_quick ? pack_s(runs, 1 << 14, 1 << 12) : pack_s(runs, 1 << 24, 1 << 22);
    std::string kernels;
    for (const std::size_t messages : {4, 8, 16, 64})
      for (const std::size_t bytes : {1 * kib, 4 * kib, 16 * kib, 64 * kib})
        kernels += (kernels.empty() ? "\"" : ", \"") + std::to_string(messages) + "x" +
                   std::to_string(bytes) + "\": " + std::to_string(copies_over_kernel(runs, messages, bytes));
    std::printf(
        "\"copy_over_memcpy\": %.3f, \"pack_s\": %.9f, \"check_with_driver_ns\": %.1f, "
        "\"copies_over_kernel\": {%s}\n",
        copy, pack, check_ns(), kernels.c_str());
  } else {
    for (const bool rank_1_too : {true, false}) {
      std::string staged;
      for (std::size_t bytes = std::size_t{1} << 20; bytes <= largest; bytes *= 4)
        staged += (staged.empty() ? "\"" : ", \"") + std::to_string(bytes) +
                  "\": " + staged_over_copy_all(runs, rank, bytes, rank_1_too);
      if (rank == 0)
        std::printf("%s: {%s}%s", rank_1_too ? "\"staged_over_copy_all\"" : ", \"staged_one_rank\"",
                    staged.c_str(), rank_1_too ? "" : "\n");
    }
  }
  MPI_Finalize();
}
