// SPDX-License-Identifier: BSD-3-Clause
// A GPU's driver without a GPU: what the tests load as libcuda.so.1 or libamdhip64.so.6.
//
// Device memory is one file mapped twice. Where the program sees it no access is allowed, so a
// touch by the processor is a crash; the driver alone uses the other mapping. Copies and kernels
// are carried out by another thread, after random delays and in the order of streams and events,
// so a missing event is wrong data. With NUICE_FAKE_GPU_MB_PER_S a copy takes the time that it has
// at this rate and NUICE_FAKE_GPU_LATENCY_US more, on one of two copy engines, to the device and
// from it; then there are no random delays.
//
// With a real driver loaded instead (tools/gpu-check.sh) the calls here are null,
// and tests that need them are skipped.
#pragma once

#include <cstddef>
#include <cstdlib>

#define FAKE_GPU_CALL [[gnu::weak]]

extern "C" {

/// Where the driver itself sees what the program sees there; the address itself outside of device memory.
FAKE_GPU_CALL void* fake_gpu_inside(const void* pointer);
/// The calls with this name fail from the n-th on, counted from now; n < 0: none does.
FAKE_GPU_CALL void fake_gpu_fail(const char* call, int n);
/// Allocations of any kind, streams and events since the start.
FAKE_GPU_CALL long fake_gpu_num_allocated();
/// Of those, the ones that live.
FAKE_GPU_CALL long fake_gpu_num_alive();
/// Kernels that were started.
FAKE_GPU_CALL long fake_gpu_num_launched();
/// Chooses the device of the calling thread; the devices share the memory. -1: the
/// thread has none, so most calls fail.
FAKE_GPU_CALL void fake_gpu_use(int device);
/// The context of the calling thread; null for none. The first of a device is device + 1.
FAKE_GPU_CALL void* fake_gpu_context();
/// What memory says of its context: the device's first (0), a second one (1), which is 100
/// more, or none, as that of a pool (2).
FAKE_GPU_CALL void fake_gpu_say_contexts(int which);
}

namespace nuice::test {

/// The caller says where it is not to be one: no test is skipped because the fake driver was not loaded.
inline bool is_fake_gpu() {
  if (fake_gpu_inside == nullptr && std::getenv("NUICE_TEST_REAL_GPU") == nullptr) std::abort();
  return fake_gpu_inside != nullptr;
}

}  // namespace nuice::test

/// In a test of what the fake GPU alone can show: its failures and counts, and an MPI that reads its memory.
#define NUICE_NEEDS_FAKE_GPU() \
  if (!nuice::test::is_fake_gpu()) GTEST_SKIP() << "not on a real GPU"
