// SPDX-License-Identifier: BSD-3-Clause
// The GPU behind the fake driver: its memory, and the thread that carries out what its streams were given.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
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
  bool is_ended = false;
};

using Clock = std::chrono::steady_clock;

struct Operation {
  std::uint64_t number;
  std::function<void()> act;
  Event* awaits = nullptr;
  std::uint64_t until = 0;
  std::size_t bytes = 0;  // of a copy
  bool is_to_device = false;
  Clock::time_point over{};  // where copies take their time
};

struct Stream {
  bool is_blocking = true;
  std::deque<Operation> operations;
  bool is_ended = false;
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
    count_new();
    return success;
  }
  /// As cuMemFree does, once nothing uses it.
  int release(void* memory) {
    std::unique_lock locked(lock_);
    wait_for_all(locked);
    if (taken_.erase(static_cast<std::size_t>(static_cast<std::byte*>(memory) - outside_)) == 0)
      return invalid_value;
    --num_alive;
    return success;
  }

  int allocate_on_host(void** memory, std::size_t bytes, bool is_managed) {
    *memory = std::aligned_alloc(4096, (std::max<std::size_t>(bytes, 1) + 4095) & ~std::size_t{4095});
    if (*memory == nullptr) return out_of_memory;
    const std::scoped_lock locked(lock_);
    host_[static_cast<std::byte*>(*memory)] = {bytes, is_managed};
    count_new();
    return success;
  }
  /// At once, as nothing is said of copies that still use it: those find other bytes.
  int release_on_host(void* memory) {
    const std::scoped_lock locked(lock_);
    const auto found = host_.find(static_cast<std::byte*>(memory));
    if (found == host_.end()) return invalid_value;
    std::memset(memory, 0xEE, found->second.bytes);
    host_.erase(found);
    released_.emplace_back(memory, &std::free);
    while (released_.size() > 1 && are_all_idle()) released_.pop_front();
    --num_alive;
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
    count_new();
    Stream& stream = *streams_.emplace_back(std::make_unique<Stream>());
    stream.is_blocking = is_blocking;
    return &stream;
  }
  Event* new_event() {
    const std::scoped_lock locked(lock_);
    count_new();
    return events_.emplace_back(std::make_unique<Event>()).get();
  }
  /// As cuStreamDestroy and cuEventDestroy do: at once, and what it was given is carried out all the same.
  void end_stream(Stream* stream) {
    const std::scoped_lock locked(lock_);
    --num_alive;
    stream->is_ended = true;
    forget_ended();
  }
  void end_event(Event* event) {
    const std::scoped_lock locked(lock_);
    --num_alive;
    event->is_ended = true;
    forget_ended();
  }
  void enqueue(Stream* stream, std::function<void()> act, Event* awaits = nullptr) {
    const std::scoped_lock locked(lock_);
    enqueue_locked(stream, std::move(act), awaits);
  }
  void enqueue_copy(Stream* stream, void* to, const void* from, std::size_t bytes, bool is_to_device) {
    const std::scoped_lock locked(lock_);
    enqueue_locked(stream, [=] { std::memcpy(to, from, bytes); }, nullptr);
    Operation& copy = (stream == nullptr ? legacy_ : *stream).operations.back();
    copy.bytes = bytes;
    copy.is_to_device = is_to_device;
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
  std::atomic<long> num_alive = 0;
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

  void count_new() {
    ++num_allocated;
    ++num_alive;
  }
  void forget_ended() {
    std::erase_if(streams_, [](const auto& one) { return one->is_ended && one->operations.empty(); });
    std::erase_if(events_, [this](const auto& one) {
      return one->is_ended && one->over >= one->asked && !is_awaited(one.get());
    });
  }

  bool are_all_idle() const {
    const auto is_idle = [](const auto& one) { return one->operations.empty(); };
    return legacy_.operations.empty() && std::ranges::all_of(streams_, is_idle);
  }
  void wait_for_all(std::unique_lock<std::mutex>& locked) {
    changed_.wait(locked, [&] { return are_all_idle(); });
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

  static int setting(const char* name, int otherwise) {
    const char* const value = std::getenv(name);
    return value != nullptr ? std::atoi(value) : otherwise;
  }

  /// The one that is over first, where copies take their time; null: not yet.
  Stream* next_over(const std::vector<Stream*>& ready, std::unique_lock<std::mutex>& locked) {
    static const int mb_per_s = setting("NUICE_FAKE_GPU_MB_PER_S", 0);
    static const auto latency = std::chrono::microseconds(setting("NUICE_FAKE_GPU_LATENCY_US", 0));
    Stream* first = nullptr;
    for (Stream* const stream : ready) {
      Operation& one = stream->operations.front();
      Clock::time_point& engine = engines_[one.is_to_device ? 1 : 0];
      if (one.over == Clock::time_point{}) {
        one.over = Clock::now();
        if (one.bytes > 0)
          engine = one.over = std::max(one.over, engine) + latency +
                              std::chrono::microseconds(one.bytes / static_cast<std::size_t>(mb_per_s));
      }
      if (first == nullptr || one.over < first->operations.front().over) first = stream;
    }
    const Clock::time_point over = first->operations.front().over;
    if (over <= Clock::now()) return first;
    work_.wait_until(locked, over);
    return nullptr;
  }

  void work() {
    std::mt19937 random(static_cast<unsigned>(getpid()));
    const int most_us = setting("NUICE_FAKE_GPU_DELAY_US", 60);
    const bool has_rate = setting("NUICE_FAKE_GPU_MB_PER_S", 0) > 0;
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
      Stream* const chosen = has_rate ? next_over(ready, locked) : ready[random() % ready.size()];
      if (chosen == nullptr) continue;
      Stream& stream = *chosen;
      if (most_us > 0 && !has_rate) {
        locked.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(most_us)));
        locked.lock();
      }
      if (stream.operations.front().act) stream.operations.front().act();
      stream.operations.pop_front();
      forget_ended();
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
  std::deque<std::unique_ptr<void, void (*)(void*)>> released_;
  std::array<Clock::time_point, 2> engines_{};
  Stream legacy_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Event>> events_;
  std::uint64_t last_number_ = 0;
  std::string failing_;
  int failing_after_ = 0;
};

}  // namespace fake
