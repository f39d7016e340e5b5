// SPDX-License-Identifier: BSD-3-Clause
// The GPU behind the fake driver: its memory, and the thread that carries out what its streams were given.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace fake {

enum Code {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_context = 201,
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
  /// As cuMemFree and cuMemFreeHost do, once nothing uses it.
  int release(void* memory) {
    std::unique_lock locked(lock_);
    wait_for_all(locked);
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
    std::unique_lock locked(lock_);
    wait_for_all(locked);
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

  void wait_for_all(std::unique_lock<std::mutex>& locked) {
    changed_.wait(locked, [&] {
      const auto is_idle = [](const auto& one) { return one->operations.empty(); };
      return legacy_.operations.empty() && std::ranges::all_of(streams_, is_idle);
    });
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

}  // namespace fake
