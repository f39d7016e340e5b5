// SPDX-License-Identifier: BSD-3-Clause
// Device memory for tests, by the driver that the process has loaded: the fake one as
// CUDA's or HIP's, or a real one of CUDA.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace nuice::test {

class TestDriver {
 public:
  static const TestDriver& get() {
    static const TestDriver driver;
    return driver;
  }

  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    check(as<int(void**, std::size_t)>(allocate_)(&memory, bytes), "allocate");
    return memory;
  }
  void release(void* memory) const { check(as<int(void*)>(release_)(memory), "free"); }
  void* allocate_pinned(std::size_t bytes) const {
    void* memory = nullptr;
    check(as<int(void**, std::size_t, unsigned)>(pinned_)(&memory, bytes, 0), "allocate pinned");
    return memory;
  }
  void* allocate_managed(std::size_t bytes) const {
    void* memory = nullptr;
    check(as<int(void**, std::size_t, unsigned)>(managed_)(&memory, bytes, 1), "allocate managed");
    return memory;
  }
  void* new_stream(bool is_blocking) const {
    void* stream = nullptr;
    check(as<int(void**, unsigned)>(stream_)(&stream, is_blocking ? 0 : 1), "make a stream");
    return stream;
  }
  void synchronize(void* stream) const { check(as<int(void*)>(synchronize_)(stream), "wait for a stream"); }
  /// In the order of the stream; host memory must stay.
  void copy(void* to, const void* from, std::size_t bytes, void* stream) const {
    const int code =
        is_hip_ ? as<int(void*, const void*, std::size_t, int, void*)>(copy_)(to, from, bytes, 4, stream)
                : as<int(void*, const void*, std::size_t, void*)>(copy_)(to, from, bytes, stream);
    check(code, "copy");
  }

 private:
  TestDriver() {
    library_ = dlopen("libamdhip64.so.6", RTLD_NOLOAD | RTLD_NOW);
    is_hip_ = library_ != nullptr;
    if (!is_hip_) library_ = dlopen("libcuda.so.1", RTLD_NOW);
    if (library_ == nullptr) {
      std::fprintf(stderr, "no driver: %s\n", dlerror());
      std::abort();
    }
    if (!is_hip_) use_first_cuda_device();
    allocate_ = find("cuMemAlloc_v2", "hipMalloc");
    release_ = find("cuMemFree_v2", "hipFree");
    pinned_ = find("cuMemHostAlloc", "hipHostMalloc");
    managed_ = find("cuMemAllocManaged", "hipMallocManaged");
    stream_ = find("cuStreamCreate", "hipStreamCreateWithFlags");
    synchronize_ = find("cuStreamSynchronize", "hipStreamSynchronize");
    copy_ = find("cuMemcpyAsync", "hipMemcpyAsync");
  }
  void use_first_cuda_device() const {
    void* context = nullptr;
    check(as<int(unsigned)>(find("cuInit", ""))(0), "begin");
    check(as<int(void**, int)>(find("cuDevicePrimaryCtxRetain", ""))(&context, 0), "make a context");
    check(as<int(void*)>(find("cuCtxSetCurrent", ""))(context), "use it");
  }
  void* find(const char* cuda, const char* hip) const {
    void* const symbol = dlsym(library_, is_hip_ ? hip : cuda);
    if (symbol == nullptr) std::abort();
    return symbol;
  }
  template <typename Function>
  static Function* as(void* symbol) {
    return reinterpret_cast<Function*>(symbol);
  }
  static void check(int code, const char* what) {
    if (code == 0) return;
    std::fprintf(stderr, "the test cannot %s: error %d of the driver\n", what, code);
    std::abort();
  }

  void* library_ = nullptr;
  bool is_hip_ = false;
  void* allocate_ = nullptr;
  void* release_ = nullptr;
  void* pinned_ = nullptr;
  void* managed_ = nullptr;
  void* stream_ = nullptr;
  void* synchronize_ = nullptr;
  void* copy_ = nullptr;
};

/// Values on the device.
template <typename Value>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<Value>& values)
      : size_(values.size()),
        memory_(static_cast<Value*>(TestDriver::get().allocate(sizeof(Value) * (size_ > 0 ? size_ : 1)))) {
    upload(values);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : size_(other.size_), memory_(std::exchange(other.memory_, nullptr)) {}
  ~DeviceArray() {
    if (memory_ != nullptr) TestDriver::get().release(memory_);
  }

  Value* data() const { return memory_; }
  std::size_t size() const { return size_; }
  void upload(const std::vector<Value>& values) const {
    const TestDriver& driver = TestDriver::get();
    if (!values.empty()) driver.copy(memory_, values.data(), values.size() * sizeof(Value), nullptr);
    driver.synchronize(nullptr);
  }
  std::vector<Value> download() const {
    std::vector<Value> values(size_);
    const TestDriver& driver = TestDriver::get();
    if (size_ > 0) driver.copy(values.data(), memory_, size_ * sizeof(Value), nullptr);
    driver.synchronize(nullptr);
    return values;
  }

 private:
  std::size_t size_;
  Value* memory_;
};

}  // namespace nuice::test
