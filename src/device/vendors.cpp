// SPDX-License-Identifier: BSD-3-Clause
// The vendors. A new vendor needs an entry, and a function for each entry point that differs. The fake device
// of the tests is a library that imitates one of these drivers (tests/device).
#include <dlfcn.h>

#include <array>

#include "device/driver.hpp"
#include "device/kernels.hpp"

namespace nuice::device {
namespace {

template <typename Function>
Function* as(void (*symbol)()) {
  return reinterpret_cast<Function*>(symbol);
}

// CUDA uses the driver API, on which the runtime, CuPy, PyTorch and other libraries are built.
constexpr std::array cuda_symbols = {
    "cuPointerGetAttribute", "cuStreamCreate",     "cuStreamDestroy_v2",
    "cuStreamWaitEvent",     "cuEventCreate",      "cuEventDestroy_v2",
    "cuEventRecord",         "cuEventQuery",       "cuEventSynchronize",
    "cuMemHostAlloc",        "cuMemFreeHost",      "cuMemAlloc_v2",
    "cuMemFree_v2",          "cuModuleLoadData",   "cuModuleGetFunction",
    "cuLaunchKernel",        "cuMemcpyAsync",      "cuGetErrorName",
    "cuCtxPushCurrent_v2",   "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRetain",
};

int cuda_memory_type(const Driver&) { return 2; }  // CU_MEMORYTYPE_DEVICE

int cuda_copy(const Driver& driver, void* to, const void* from, std::size_t bytes, Handle stream) {
  return as<int(void*, const void*, std::size_t, Handle)>(driver.api.memcpy_async)(to, from, bytes, stream);
}

std::string cuda_describe(const Driver& driver, int code) {
  const char* name = nullptr;
  as<int(int, const char**)>(driver.api.error_name)(code, &name);
  return name != nullptr ? name : "error " + std::to_string(code);
}

/// Memory of a pool belongs to no context. The device's primary context is then used, as nearly all programs
/// do.
int cuda_enter(const Location& at, void**) {
  const Api& api = at.driver->api;
  Handle context = at.context;
  if (context == nullptr)
    if (const int code = as<int(Handle*, int)>(api.device_context)(&context, at.device)) return code;
  return as<int(Handle)>(api.set_current)(context);
}

void cuda_leave(const Location& at, void*) noexcept {
  Handle popped = nullptr;
  as<int(Handle*)>(at.driver->api.restore_current)(&popped);
}

std::string cuda_kernels(const Driver&, std::string&) { return ptx_text(); }

constexpr std::array hip_symbols = {
    "hipPointerGetAttribute",
    "hipStreamCreateWithFlags",
    "hipStreamDestroy",
    "hipStreamWaitEvent",
    "hipEventCreateWithFlags",
    "hipEventDestroy",
    "hipEventRecord",
    "hipEventQuery",
    "hipEventSynchronize",
    "hipHostMalloc",
    "hipHostFree",
    "hipMalloc",
    "hipFree",
    "hipModuleLoadData",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipMemcpyAsync",
    "hipGetErrorName",
    "hipSetDevice",
    "hipGetDevice",
    "hipRuntimeGetVersion",
};

/// Returns the memory type, whose numbers changed with version 6.
int hip_memory_type(const Driver& driver) {
  constexpr int version_6 = 60'000'000;
  int version = 0;
  as<int(int*)>(driver.api.device_context)(&version);
  return version >= version_6 ? 2 : 1;
}

int hip_copy(const Driver& driver, void* to, const void* from, std::size_t bytes, Handle stream) {
  constexpr int any_direction = 4;  // hipMemcpyDefault
  return as<int(void*, const void*, std::size_t, int, Handle)>(driver.api.memcpy_async)(
      to, from, bytes, any_direction, stream);
}

std::string hip_describe(const Driver& driver, int code) {
  const char* const name = as<const char*(int)>(driver.api.error_name)(code);
  return name != nullptr ? name : "error " + std::to_string(code);
}

/// Stores the number of the previous device in *before, in place of a pointer.
int hip_enter(const Location& at, void** before) {
  int device = 0;
  if (const int code = as<int(int*)>(at.driver->api.restore_current)(&device)) return code;
  *before = reinterpret_cast<void*>(static_cast<std::intptr_t>(device));
  return as<int(int)>(at.driver->api.set_current)(at.device);
}

void hip_leave(const Location& at, void* before) noexcept {
  as<int(int)>(at.driver->api.set_current)(static_cast<int>(reinterpret_cast<std::intptr_t>(before)));
}

/// Compiles with hiprtc. Programs with kernels of their own have loaded it, and ROCm installs it with its
/// driver.
std::string hip_kernels(const Driver& driver, std::string& why_not) {
  Handle library = driver.library;
  if (dlsym(library, "hiprtcCreateProgram") == nullptr) library = dlopen("libhiprtc.so", RTLD_NOW);
  const auto find = [&](const char* name) { return library != nullptr ? dlsym(library, name) : nullptr; };
  const auto create =
      reinterpret_cast<int (*)(Handle*, const char*, const char*, int, const char**, const char**)>(
          find("hiprtcCreateProgram"));
  const auto compile = reinterpret_cast<int (*)(Handle, int, const char**)>(find("hiprtcCompileProgram"));
  const auto code_size = reinterpret_cast<int (*)(Handle, std::size_t*)>(find("hiprtcGetCodeSize"));
  const auto code = reinterpret_cast<int (*)(Handle, char*)>(find("hiprtcGetCode"));
  const auto destroy = reinterpret_cast<int (*)(Handle*)>(find("hiprtcDestroyProgram"));
  if (create == nullptr || compile == nullptr || code_size == nullptr || code == nullptr ||
      destroy == nullptr) {
    why_not = "libhiprtc.so is not there";
    return {};
  }
  Handle program = nullptr;
  std::size_t bytes = 0;
  if (create(&program, hip_text().c_str(), "nuice", 0, nullptr, nullptr) != 0) {
    why_not = "hiprtc makes no program";
    return {};
  }
  std::string image;
  if (compile(program, 0, nullptr) == 0 && code_size(program, &bytes) == 0) {
    image.resize(bytes);
    if (code(program, image.data()) != 0) image.clear();
  }
  if (image.empty()) why_not = "hiprtc does not compile them";
  destroy(&program);
  return image;
}

constexpr std::array rows = {
    Vendor{"cuda", "libcuda.so", cuda_symbols, cuda_memory_type, cuda_copy, cuda_describe, cuda_enter,
           cuda_leave, cuda_kernels},
    Vendor{"hip", "libamdhip64", hip_symbols, hip_memory_type, hip_copy, hip_describe, hip_enter, hip_leave,
           hip_kernels},
};

constexpr std::size_t num_entry_points = sizeof(Api) / sizeof(void (*)());
static_assert(cuda_symbols.size() == num_entry_points && hip_symbols.size() == num_entry_points);

}  // namespace

std::span<const Vendor> vendors() { return rows; }

}  // namespace nuice::device
