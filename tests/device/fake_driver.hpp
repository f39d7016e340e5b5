// SPDX-License-Identifier: BSD-3-Clause
// A GPU's driver without a GPU: what the tests load as libcuda.so.1 or libamdhip64.so.6.
//
// Device memory is one file mapped twice. Where the program sees it no access is allowed, so a touch by the processor is a crash; the
// driver alone uses the other mapping. Copies and kernels are carried out by another thread, after random delays and in the order
// of streams and events, so a missing event is wrong data.
#pragma once

#include <cstddef>

extern "C" {

/// Where the driver itself sees what the program sees there; the address itself outside of device memory.
void* fake_gpu_inside(const void* pointer);
/// The calls with this name fail from the n-th on, counted from now; n < 0: none does.
void fake_gpu_fail(const char* call, int n);
/// Allocations of any kind, streams and events since the start.
long fake_gpu_num_allocated();
/// Kernels that were started.
long fake_gpu_num_launched();
/// Chooses the device of the calling thread; the devices share the memory.
void fake_gpu_use(int device);
}
