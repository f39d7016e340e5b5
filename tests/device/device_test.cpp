// SPDX-License-Identifier: BSD-3-Clause
// Drivers are found among what is loaded, memory is located, and the
// kernels do as the same loops on the host.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>

#include "device/device_memory.hpp"
#include "device/fake_driver.hpp"
#include "device/indexed_copy.hpp"
#include "nuice/core/error.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

using device::Location;
using test::DeviceArray;
using test::TestDriver;
using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Device, MemoryIsLocated) {
  const DeviceArray<double> array({1, 2, 3});
  const Location at = device::locate(array.data() + 1);
  ASSERT_TRUE(at.is_on_device());
  EXPECT_EQ(at.name(), NUICE_VENDOR " device 0");
  EXPECT_EQ(at, device::locate(array.data()));
  if (test::is_fake_gpu()) {
    fake_gpu_use(1);
    const DeviceArray<double> other({1});
    fake_gpu_use(0);
    EXPECT_EQ(device::locate(other.data()).device, 1);
  }
  double on_host = 0;
  EXPECT_FALSE(device::locate(&on_host).is_on_device());
  EXPECT_FALSE(device::locate(nullptr).is_on_device());
  EXPECT_FALSE(device::locate(TestDriver::get().allocate_pinned(64)).is_on_device());
  EXPECT_FALSE(device::locate(TestDriver::get().allocate_managed(64)).is_on_device());
}

/// Of an own context of the program, of none, as of a pool, or of the device's first, which is
/// the one of all programs that made none.
TEST(Device, CallsAreForTheMemorysContext) {
  NUICE_NEEDS_FAKE_GPU();
  const bool has_contexts = std::string_view(NUICE_VENDOR) == "cuda";
  const DeviceArray<double> array({1, 2, 3});
  for (const int which : {0, 1, 2}) {
    fake_gpu_say_contexts(which);
    const Location at = device::locate(array.data());
    fake_gpu_use(1);
    {
      const device::Current current(at);
      EXPECT_EQ(fake_gpu_context(), reinterpret_cast<void*>(which == 1 && has_contexts ? 101 : 1)) << which;
    }
    EXPECT_EQ(fake_gpu_context(), reinterpret_cast<void*>(2));  // as it was
    fake_gpu_use(0);
  }
  fake_gpu_say_contexts(0);
}

/// A thread without a device makes, uses and destroys all there is.
TEST(Device, AThreadNeedsNone) {
  NUICE_NEEDS_FAKE_GPU();
  const DeviceArray<double> array({1, 2, 3});
  const Location at = device::locate(array.data());
  const long before = fake_gpu_num_alive();
  fake_gpu_use(-1);
  {
    const device::Stream stream(at);
    const device::Event event(at);
    const device::PinnedMemory pinned(at, 64);
    const device::DeviceMemory memory(at, 64);
    const device::IndexedCopy copy(at, reinterpret_cast<std::byte*>(array.data()), 8, {0, 2});
    EXPECT_GE(fake_gpu_num_alive(), before + 5);
  }
  EXPECT_EQ(fake_gpu_num_alive(), before);
  EXPECT_EQ(fake_gpu_context(), nullptr);
  fake_gpu_use(0);
}

TEST(Device, TheProcessorCannotTouchIt) {
  NUICE_NEEDS_FAKE_GPU();
  const DeviceArray<double> array({1, 2, 3});
  EXPECT_DEATH(*static_cast<volatile double*>(array.data()) = 1, "");
  EXPECT_EQ(array.download(), (std::vector<double>{1, 2, 3}));
}

TEST(Device, ErrorsHaveTheDriversName) {
  NUICE_NEEDS_FAKE_GPU();
  const DeviceArray<double> array({1});
  const Location at = device::locate(array.data());
  fake_gpu_fail("host_alloc", 0);
  EXPECT_ERROR(device::PinnedMemory(at, 64), ErrorCode::device,
               {NUICE_VENDOR " cannot allocate pinned memory: "});
  fake_gpu_fail("", -1);
}

/// Gathers some units of random memory, scatters them elsewhere, in two parts
/// each, and compares with the host's loops.
void expect_as_on_host(std::size_t unit, bool to_pinned) {
  constexpr std::size_t num_units = 1000;
  std::mt19937 random(7);
  std::vector<device::Index> index(300);
  std::set<device::Index> taken;  // a scatter writes every unit once
  for (device::Index& i : index) {
    do i = static_cast<device::Index>(random() % num_units);
    while (!taken.insert(i).second);
  }
  const Bytes values = random_bytes(num_units * unit, 1);
  Bytes expected_dense;
  Bytes expected_back = random_bytes(num_units * unit, 2);
  const DeviceArray<std::byte> from(values);
  const DeviceArray<std::byte> back(expected_back);
  for (const device::Index i : index) {
    const auto at = static_cast<std::ptrdiff_t>(i * unit);
    expected_dense.insert(expected_dense.end(), values.begin() + at,
                          values.begin() + at + static_cast<std::ptrdiff_t>(unit));
    std::copy_n(values.begin() + at, unit, expected_back.begin() + at);
  }
  const Location at = device::locate(from.data());
  const device::Current current(at);
  const device::Stream stream(at);
  const device::Event over(at);
  const device::IndexedCopy gather(at, from.data(), unit, index);
  const device::IndexedCopy scatter(at, back.data(), unit, index);
  const DeviceArray<std::byte> on_device(Bytes(index.size() * unit));
  auto* const dense = to_pinned
                          ? static_cast<std::byte*>(TestDriver::get().allocate_pinned(index.size() * unit))
                          : on_device.data();
  const std::size_t middle = 100 * unit;
  gather.gather(dense, 0, middle, stream);
  gather.gather(dense, middle, gather.bytes(), stream);
  scatter.scatter(dense, middle, scatter.bytes(), stream);
  scatter.scatter(dense, 0, middle, stream);
  over.record(stream.get());
  over.wait();
  EXPECT_EQ(to_pinned ? Bytes(dense, dense + index.size() * unit) : on_device.download(), expected_dense);
  EXPECT_EQ(back.download(), expected_back);
}

TEST(IndexedCopy, IsThatOfTheHost) {
  for (const std::size_t unit : device::unit_sizes) {
    for (const bool to_pinned : {false, true}) {
      const long before = test::is_fake_gpu() ? fake_gpu_num_launched() : 0;
      expect_as_on_host(unit, to_pinned);
      if (test::is_fake_gpu()) {
        EXPECT_EQ(fake_gpu_num_launched() - before, 4);
      }
    }
  }
}

TEST(IndexedCopy, WithoutKernelsRunsAreCopied) {
  NUICE_NEEDS_FAKE_GPU();
  fake_gpu_fail("module_load", 0);
  fake_gpu_use(1);  // for which nothing has been compiled
  const long before = fake_gpu_num_launched();
  for (const std::size_t unit : device::unit_sizes) expect_as_on_host(unit, true);
  EXPECT_EQ(fake_gpu_num_launched(), before);
  fake_gpu_fail("", -1);
  fake_gpu_use(0);
}

}  // namespace
}  // namespace nuice
