// SPDX-License-Identifier: BSD-3-Clause
#include "device/fake_driver.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

enum Code {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_found = 500,
  busy = 600,
  illegal_address = 700
};
constexpr std::size_t memory_bytes = std::size_t{1} << 30;
constexpr std::size_t num_devices = 2;

struct Event {
  std::uint64_t asked = 0;
  std::uint64_t over = 0;
};

struct Operation {
  std::uint64_t number;
  std::function<void()> act;
  Event* awaits = nullptr;
  std::uint64_t until = 0;
};

struct Stream {
  bool is_blocking = true;
  std::deque<Operation> operations;
};

class Gpu {
 public:
  static Gpu& get() {
    static Gpu& gpu = *new Gpu;  // for as long as the process runs: its thread may be at work to the end
    return gpu;
  }

  bool has(const void* pointer) const {
    const auto* const at = static_cast<const std::byte*>(pointer);
    return at >= outside_ && at < outside_ + memory_bytes;
  }
  void* inside(const void* pointer) const {
    if (!has(pointer)) return const_cast<void*>(pointer);
    return inside_ + (static_cast<const std::byte*>(pointer) - outside_);
  }
  static int device_of(const void* pointer) {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - get().outside_);
    return static_cast<int>(offset / (memory_bytes / num_devices));
  }

  int allocate(void** memory, std::size_t bytes, int device) {
    const std::scoped_lock locked(lock_);
    if (bytes == 0) return invalid_value;
    bytes = (bytes + 511) & ~std::size_t{511};
    const std::size_t end = memory_bytes / num_devices * static_cast<std::size_t>(device + 1);
    std::size_t at = memory_bytes / num_devices * static_cast<std::size_t>(device);
    for (const auto& [begin, size] : taken_) {
      if (begin + size <= at) continue;
      if (begin >= at + bytes) break;
      at = begin + size;
    }
    if (at + bytes > end) return out_of_memory;
    taken_[at] = bytes;
    *memory = outside_ + at;
    ++num_allocated;
    return success;
  }
  int release(void* memory) {
    const std::scoped_lock locked(lock_);
    return taken_.erase(static_cast<std::size_t>(static_cast<std::byte*>(memory) - outside_)) == 1
               ? success
               : invalid_value;
  }

  int allocate_on_host(void** memory, std::size_t bytes, bool is_managed) {
    *memory = std::aligned_alloc(4096, (std::max<std::size_t>(bytes, 1) + 4095) & ~std::size_t{4095});
    if (*memory == nullptr) return out_of_memory;
    const std::scoped_lock locked(lock_);
    host_[static_cast<std::byte*>(*memory)] = {bytes, is_managed};
    ++num_allocated;
    return success;
  }
  int release_on_host(void* memory) {
    const std::scoped_lock locked(lock_);
    if (host_.erase(static_cast<std::byte*>(memory)) == 0) return invalid_value;
    std::free(memory);
    return success;
  }
  /// 0: none, 1: pinned, 2: managed.
  int kind_on_host(const void* pointer) {
    const std::scoped_lock locked(lock_);
    auto after = host_.upper_bound(const_cast<std::byte*>(static_cast<const std::byte*>(pointer)));
    if (after == host_.begin()) return 0;
    const auto& [begin, block] = *--after;
    if (static_cast<const std::byte*>(pointer) >= begin + block.bytes) return 0;
    return block.is_managed ? 2 : 1;
  }

  Stream* new_stream(bool is_blocking) {
    const std::scoped_lock locked(lock_);
    ++num_allocated;
    Stream& stream = *streams_.emplace_back(std::make_unique<Stream>());
    stream.is_blocking = is_blocking;
    return &stream;
  }
  void end_stream(Stream* stream) {
    std::unique_lock locked(lock_);
    changed_.wait(locked, [&] { return stream->operations.empty(); });
    std::erase_if(streams_, [&](const auto& one) { return one.get() == stream; });
  }
  void end_event(Event* event) {
    std::unique_lock locked(lock_);
    changed_.wait(locked, [&] { return event->over >= event->asked && !is_awaited(event); });
    delete event;
  }
  void enqueue(Stream* stream, std::function<void()> act, Event* awaits = nullptr) {
    const std::scoped_lock locked(lock_);
    enqueue_locked(stream, std::move(act), awaits);
  }
  void record(Event* event, Stream* stream) {
    const std::scoped_lock locked(lock_);
    const std::uint64_t number = ++event->asked;
    enqueue_locked(stream, [event, number] { event->over = number; }, nullptr);
  }
  bool is_over(const Event* event) {
    const std::scoped_lock locked(lock_);
    return event->over >= event->asked;
  }
  void wait(const Event* event) {
    std::unique_lock locked(lock_);
    changed_.wait(locked, [&] { return event->over >= event->asked; });
  }
  void wait(const Stream* stream) {
    std::unique_lock locked(lock_);
    if (stream == nullptr) stream = &legacy_;
    changed_.wait(locked, [&] { return stream->operations.empty(); });
  }

  /// Whether a call with this name is to fail.
  bool fails(const char* call) {
    const std::scoped_lock locked(lock_);
    if (failing_ != call) return false;
    return failing_after_-- <= 0;
  }
  void fail(const char* call, int n) {
    const std::scoped_lock locked(lock_);
    failing_ = n < 0 ? "" : call;
    failing_after_ = n;
  }

  std::atomic<long> num_allocated = 0;
  std::atomic<long> num_launched = 0;

 private:
  Gpu() {
    const int file = memfd_create("fake gpu", 0);
    if (file < 0 || ftruncate(file, memory_bytes) != 0) std::abort();
    const auto map = [&](int protection) {
      void* const at = mmap(nullptr, memory_bytes, protection, MAP_SHARED, file, 0);
      if (at == MAP_FAILED) std::abort();
      return static_cast<std::byte*>(at);
    };
    outside_ = map(PROT_NONE);
    inside_ = map(PROT_READ | PROT_WRITE);
    close(file);
    std::thread([this] { work(); }).detach();
  }

  void enqueue_locked(Stream* stream, std::function<void()> act, Event* awaits) {
    if (stream == nullptr) stream = &legacy_;
    stream->operations.push_back(
        {++last_number_, std::move(act), awaits, awaits == nullptr ? 0 : awaits->asked});
    work_.notify_one();
  }

  bool is_awaited(const Event* event) const {
    const auto awaits = [&](const Operation& operation) { return operation.awaits == event; };
    return std::ranges::any_of(legacy_.operations, awaits) ||
           std::ranges::any_of(streams_,
                               [&](const auto& one) { return std::ranges::any_of(one->operations, awaits); });
  }

  /// The legacy default stream and all blocking ones keep to the order in which they were given work.
  bool may_begin(const Stream& stream) const {
    if (stream.operations.empty()) return false;
    const Operation& first = stream.operations.front();
    if (first.awaits != nullptr && first.awaits->over < first.until) return false;
    const auto is_earlier = [&](const Stream& other) {
      return !other.operations.empty() && other.operations.front().number < first.number;
    };
    if (&stream == &legacy_)
      return std::ranges::none_of(streams_,
                                  [&](const auto& one) { return one->is_blocking && is_earlier(*one); });
    return !stream.is_blocking || !is_earlier(legacy_);
  }

  void work() {
    std::mt19937 random(static_cast<unsigned>(getpid()));
    const char* const most = std::getenv("NUICE_FAKE_GPU_DELAY_US");
    const int most_us = most != nullptr ? std::atoi(most) : 60;
    std::unique_lock locked(lock_);
    while (true) {
      std::vector<Stream*> ready;
      if (may_begin(legacy_)) ready.push_back(&legacy_);
      for (const auto& stream : streams_)
        if (may_begin(*stream)) ready.push_back(stream.get());
      if (ready.empty()) {
        work_.wait(locked);
        continue;
      }
      Stream& stream = *ready[random() % ready.size()];
      locked.unlock();
      if (most_us > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(most_us)));
      locked.lock();
      if (stream.operations.front().act) stream.operations.front().act();
      stream.operations.pop_front();
      changed_.notify_all();
    }
  }

  std::byte* outside_ = nullptr;
  std::byte* inside_ = nullptr;
  std::mutex lock_;
  std::condition_variable work_;
  std::condition_variable changed_;
  std::map<std::size_t, std::size_t> taken_;
  struct HostBlock {
    std::size_t bytes;
    bool is_managed;
  };
  std::map<std::byte*, HostBlock> host_;
  Stream legacy_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::uint64_t last_number_ = 0;
  std::string failing_;
  int failing_after_ = 0;
};

thread_local int current_device = 0;
thread_local std::vector<void*> pushed;

struct Module {
  std::string text;
};
struct Function {
  bool is_gather;
  std::size_t unit;
};

#define FAKE_FAILS(call) \
  if (Gpu::get().fails(call)) return out_of_memory

int pointer_attribute(void* value, int attribute, const void* pointer, bool has_contexts) {
  Gpu& gpu = Gpu::get();
  const bool is_on_device = gpu.has(pointer);
  const int kind = is_on_device ? 0 : gpu.kind_on_host(pointer);
  if (!is_on_device && kind == 0) return invalid_value;
  switch (attribute) {
    case 1: {  // context
      if (!has_contexts) return invalid_value;
      void* const context = reinterpret_cast<void*>(static_cast<std::intptr_t>(Gpu::device_of(pointer) + 1));
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
  gpu.enqueue(static_cast<Stream*>(stream),
              [to = gpu.inside(to), from = gpu.inside(from), bytes] { std::memcpy(to, from, bytes); });
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

void* fake_gpu_inside(const void* pointer) { return Gpu::get().inside(pointer); }
void fake_gpu_fail(const char* call, int n) { Gpu::get().fail(call, n); }
long fake_gpu_num_allocated() { return Gpu::get().num_allocated; }
long fake_gpu_num_launched() { return Gpu::get().num_launched; }
void fake_gpu_use(int device) { current_device = device; }

#ifdef FAKE_HIP
#define CALL(cuda, hip) hip
#else
#define CALL(cuda, hip) cuda
#endif

int CALL(cuMemAlloc_v2, hipMalloc)(void** memory, std::size_t bytes) {
  FAKE_FAILS("mem_alloc");
  return Gpu::get().allocate(memory, bytes, current_device);
}
int CALL(cuMemFree_v2, hipFree)(void* memory) { return Gpu::get().release(memory); }
int CALL(cuMemHostAlloc, hipHostMalloc)(void** memory, std::size_t bytes, unsigned) {
  FAKE_FAILS("host_alloc");
  return Gpu::get().allocate_on_host(memory, bytes, false);
}
int CALL(cuMemFreeHost, hipHostFree)(void* memory) { return Gpu::get().release_on_host(memory); }
int CALL(cuMemAllocManaged, hipMallocManaged)(void** memory, std::size_t bytes, unsigned) {
  return Gpu::get().allocate_on_host(memory, bytes, true);
}
int CALL(cuStreamCreate, hipStreamCreateWithFlags)(void** stream, unsigned flags) {
  FAKE_FAILS("stream_create");
  *stream = Gpu::get().new_stream(flags == 0);
  return success;
}
int CALL(cuStreamDestroy_v2, hipStreamDestroy)(void* stream) {
  Gpu::get().end_stream(static_cast<Stream*>(stream));
  return success;
}
int CALL(cuStreamSynchronize, hipStreamSynchronize)(void* stream) {
  Gpu::get().wait(static_cast<Stream*>(stream));
  return success;
}
int CALL(cuStreamWaitEvent, hipStreamWaitEvent)(void* stream, void* event, unsigned) {
  Gpu::get().enqueue(static_cast<Stream*>(stream), {}, static_cast<Event*>(event));
  return success;
}
int CALL(cuEventCreate, hipEventCreateWithFlags)(void** event, unsigned) {
  ++Gpu::get().num_allocated;
  *event = new Event;
  return success;
}
int CALL(cuEventDestroy_v2, hipEventDestroy)(void* event) {
  Gpu::get().end_event(static_cast<Event*>(event));
  return success;
}
int CALL(cuEventRecord, hipEventRecord)(void* event, void* stream) {
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
  current_device = device;
  return success;
}
int hipGetDevice(int* device) {
  *device = current_device;
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
  pushed.push_back(reinterpret_cast<void*>(static_cast<std::intptr_t>(current_device)));
  current_device = static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1;
  return success;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = reinterpret_cast<void*>(static_cast<std::intptr_t>(current_device + 1));
  current_device = static_cast<int>(reinterpret_cast<std::intptr_t>(pushed.back()));
  pushed.pop_back();
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = reinterpret_cast<void*>(static_cast<std::intptr_t>(device + 1));
  return success;
}
// What programs call before they allocate.
int cuInit(unsigned) { return success; }
int cuCtxSetCurrent(void* context) {
  current_device = static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1;
  return success;
}
#endif
}
