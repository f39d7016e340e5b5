// SPDX-License-Identifier: BSD-3-Clause
#include "device/fake_driver.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device/fake_gpu.hpp"

namespace {

using namespace fake;

thread_local std::intptr_t current = 1;  // context; HIP's are the first of their devices
thread_local std::vector<std::intptr_t> pushed;
std::atomic<int> says_context = 0;

int current_device() { return static_cast<int>(current % 100) - 1; }
void* as_handle(std::intptr_t context) { return reinterpret_cast<void*>(context); }
[[maybe_unused]] std::intptr_t as_context(void* handle) { return reinterpret_cast<std::intptr_t>(handle); }

struct Module {
  std::string text;
};
struct Function {
  bool is_gather;
  std::size_t unit;
};

#define FAKE_FAILS(call)                    \
  if (current == 0) return invalid_context; \
  if (Gpu::get().fails(call)) return out_of_memory

int pointer_attribute(void* value, int attribute, const void* pointer, bool has_contexts) {
  Gpu& gpu = Gpu::get();
  const bool is_on_device = gpu.has(pointer);
  const int kind = is_on_device ? 0 : gpu.kind_on_host(pointer);
  if (!is_on_device && kind == 0) return invalid_value;
  switch (attribute) {
    case 1: {  // context
      if (!has_contexts) return invalid_value;
      const std::intptr_t first = Gpu::device_of(pointer) + 1;
      void* const context = as_handle(says_context == 0 ? first : says_context == 1 ? first + 100 : 0);
      std::memcpy(value, static_cast<const void*>(&context), sizeof context);
      return success;
    }
    case 2: {  // memory type
      const int type = is_on_device || kind == 2 ? 2 : 1;
      std::memcpy(value, &type, sizeof type);
      return success;
    }
    case 8: {  // managed
      const unsigned managed = kind == 2 ? 1 : 0;
      std::memcpy(value, &managed, 1);
      return success;
    }
    case 9: {  // ordinal
      const int device = is_on_device ? Gpu::device_of(pointer) : 0;
      std::memcpy(value, &device, sizeof device);
      return success;
    }
    default:
      return invalid_value;
  }
}

int copy(void* to, const void* from, std::size_t bytes, void* stream) {
  FAKE_FAILS("copy");
  Gpu& gpu = Gpu::get();
  gpu.enqueue_copy(static_cast<Stream*>(stream), gpu.inside(to), gpu.inside(from), bytes, gpu.has(to));
  return success;
}

int event_query(void* event) { return Gpu::get().is_over(static_cast<Event*>(event)) ? success : busy; }

int module_function(void** function, void* module, const char* name) {
  const std::string& text = static_cast<Module*>(module)->text;
  const std::string wanted(name);
  if (text.find(" " + wanted + "(") == std::string::npos) return not_found;
  const std::size_t last = wanted.rfind('_');
  *function = new Function{wanted.find("gather") != std::string::npos,
                           static_cast<std::size_t>(std::stoul(wanted.substr(last + 1)))};
  return success;
}

int launch(void* function, void* stream, void** arguments) {
  FAKE_FAILS("launch");
  Gpu& gpu = Gpu::get();
  ++gpu.num_launched;
  const auto [is_gather, unit] = *static_cast<Function*>(function);
  const auto pointer = [&](int i) { return *static_cast<std::byte* const*>(arguments[i]); };
  auto* const from = static_cast<std::byte*>(gpu.inside(pointer(0)));
  auto* const to = static_cast<std::byte*>(gpu.inside(pointer(1)));
  const auto* const index = static_cast<const std::uint32_t*>(gpu.inside(pointer(2)));
  const std::uint64_t count = *static_cast<std::uint64_t*>(arguments[3]);
  if (!gpu.has(pointer(2)))
    return illegal_address;  // pageable memory of the host is nothing that kernels read
  const auto is_reachable = [&](const void* at) { return gpu.has(at) || gpu.kind_on_host(at) != 0; };
  if (!is_reachable(pointer(0)) || !is_reachable(pointer(1))) return illegal_address;
  gpu.enqueue(static_cast<Stream*>(stream), [=, is_gather = is_gather, unit = unit] {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t far = index[i] * unit;
      std::memcpy(to + (is_gather ? i * unit : far), from + (is_gather ? far : i * unit), unit);
    }
  });
  return success;
}

}  // namespace

extern "C" {

#ifndef FAKE_IS_PLAIN
void* fake_gpu_inside(const void* pointer) { return Gpu::get().inside(pointer); }
void fake_gpu_fail(const char* call, int n) { Gpu::get().fail(call, n); }
long fake_gpu_num_allocated() { return Gpu::get().num_allocated; }
long fake_gpu_num_alive() { return Gpu::get().num_alive; }
long fake_gpu_num_launched() { return Gpu::get().num_launched; }
void fake_gpu_use(int device) { current = device + 1; }
void* fake_gpu_context() { return as_handle(current); }
void fake_gpu_say_contexts(int which) { says_context = which; }
#endif

#ifdef FAKE_HIP
#define CALL(cuda, hip) hip
#else
#define CALL(cuda, hip) cuda
#endif

int CALL(cuMemAlloc_v2, hipMalloc)(void** memory, std::size_t bytes) {
  FAKE_FAILS("mem_alloc");
  return Gpu::get().allocate(memory, bytes, current_device());
}
int CALL(cuMemFree_v2, hipFree)(void* memory) {
  FAKE_FAILS("mem_free");
  return Gpu::get().release(memory);
}
int CALL(cuMemHostAlloc, hipHostMalloc)(void** memory, std::size_t bytes, unsigned) {
  FAKE_FAILS("host_alloc");
  return Gpu::get().allocate_on_host(memory, bytes, false);
}
int CALL(cuMemFreeHost, hipHostFree)(void* memory) {
  FAKE_FAILS("host_free");
  return Gpu::get().release_on_host(memory);
}
int CALL(cuMemAllocManaged, hipMallocManaged)(void** memory, std::size_t bytes, unsigned) {
  return Gpu::get().allocate_on_host(memory, bytes, true);
}
int CALL(cuStreamCreate, hipStreamCreateWithFlags)(void** stream, unsigned flags) {
  FAKE_FAILS("stream_create");
  *stream = Gpu::get().new_stream(flags == 0);
  return success;
}
int CALL(cuStreamDestroy_v2, hipStreamDestroy)(void* stream) {
  FAKE_FAILS("stream_destroy");
  Gpu::get().end_stream(static_cast<Stream*>(stream));
  return success;
}
int CALL(cuStreamSynchronize, hipStreamSynchronize)(void* stream) {
  Gpu::get().wait(static_cast<Stream*>(stream));
  return success;
}
int CALL(cuStreamWaitEvent, hipStreamWaitEvent)(void* stream, void* event, unsigned) {
  FAKE_FAILS("stream_wait_event");
  Gpu::get().enqueue(static_cast<Stream*>(stream), {}, static_cast<Event*>(event));
  return success;
}
int CALL(cuEventCreate, hipEventCreateWithFlags)(void** event, unsigned) {
  FAKE_FAILS("event_create");
  *event = Gpu::get().new_event();
  return success;
}
int CALL(cuEventDestroy_v2, hipEventDestroy)(void* event) {
  FAKE_FAILS("event_destroy");
  Gpu::get().end_event(static_cast<Event*>(event));
  return success;
}
int CALL(cuEventRecord, hipEventRecord)(void* event, void* stream) {
  FAKE_FAILS("event_record");
  Gpu::get().record(static_cast<Event*>(event), static_cast<Stream*>(stream));
  return success;
}
int CALL(cuEventQuery, hipEventQuery)(void* event) { return event_query(event); }
int CALL(cuEventSynchronize, hipEventSynchronize)(void* event) {
  FAKE_FAILS("event_synchronize");
  Gpu::get().wait(static_cast<Event*>(event));
  return success;
}
int CALL(cuModuleGetFunction, hipModuleGetFunction)(void** function, void* module, const char* name) {
  return module_function(function, module, name);
}
int CALL(cuModuleLoadData, hipModuleLoadData)(void** module, const void* image) {
  FAKE_FAILS("module_load");
  *module = new Module{static_cast<const char*>(image)};
  return success;
}
int CALL(cuLaunchKernel, hipModuleLaunchKernel)(void* function, unsigned, unsigned, unsigned, unsigned,
                                                unsigned, unsigned, unsigned, void* stream, void** arguments,
                                                void**) {
  return launch(function, stream, arguments);
}

#ifdef FAKE_HIP
int hipPointerGetAttribute(void* value, int attribute, const void* pointer) {
  return pointer_attribute(value, attribute, pointer, false);
}
int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  return kind == 4 ? copy(to, from, bytes, stream) : invalid_value;
}
const char* hipGetErrorName(int code) {
  return code == out_of_memory     ? "hipErrorOutOfMemory"
         : code == illegal_address ? "hipErrorIllegalAddress"
                                   : "hipError";
}
int hipSetDevice(int device) {
  current = device + 1;
  return success;
}
int hipGetDevice(int* device) {
  *device = current_device();
  return success;
}
int hipRuntimeGetVersion(int* version) {
  *version = 60'300'000;
  return success;
}
// hiprtc: a program is its text.
int hiprtcCreateProgram(void** program, const char* text, const char*, int, const char**, const char**) {
  *program = new Module{text};
  return success;
}
int hiprtcCompileProgram(void*, int, const char**) { return success; }
int hiprtcGetCodeSize(void* program, std::size_t* bytes) {
  *bytes = static_cast<Module*>(program)->text.size() + 1;
  return success;
}
int hiprtcGetCode(void* program, char* code) {
  const std::string& text = static_cast<Module*>(program)->text;
  std::memcpy(code, text.c_str(), text.size() + 1);
  return success;
}
int hiprtcDestroyProgram(void** program) {
  delete static_cast<Module*>(*program);
  return success;
}
#else
int cuPointerGetAttribute(void* value, int attribute, const void* pointer) {
  return pointer_attribute(value, attribute, pointer, true);
}
int cuMemcpyAsync(void* to, const void* from, std::size_t bytes, void* stream) {
  return copy(to, from, bytes, stream);
}
int cuGetErrorName(int code, const char** name) {
  *name = code == out_of_memory     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                    : "CUDA_ERROR";
  return success;
}
int cuCtxPushCurrent_v2(void* context) {
  pushed.push_back(current);
  current = as_context(context);
  return success;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = as_handle(current);
  current = pushed.back();
  pushed.pop_back();
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = as_handle(device + 1);
  return success;
}
// What programs call before they allocate.
int cuInit(unsigned) { return success; }
int cuCtxSetCurrent(void* context) {
  current = as_context(context);
  return success;
}
#endif
}
