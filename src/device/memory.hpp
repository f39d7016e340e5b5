// SPDX-License-Identifier: BSD-3-Clause
// Owners of a driver's resources. Each is made, used and destroyed for one location; with a null driver
// nothing is allocated.
#pragma once

#include <cstddef>
#include <utility>

#include "device/driver.hpp"

namespace nuice::device {

/// An owner of a resource. It calls release(api, what) on the device for which the resource was made.
template <typename What, int (*Api::*release)(What)>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : at_(other.at_), what_(std::exchange(other.what_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(what_, other.what_);
    return *this;
  }
  ~Owned() {
    if (what_ == nullptr) return;
    try {
      const Current current(at_);
      (at_.driver->api.*release)(what_);
    } catch (...) {
      // The driver is shutting down and frees the memory itself.
    }
  }
  What get() const { return what_; }

 protected:
  explicit Owned(const Location& at) : at_(at) {}
  Location at_;
  What what_ = nullptr;
};

/// A stream that does not wait for the legacy default stream. The default stream does not wait for it either.
class Stream : public Owned<Handle, &Api::stream_destroy> {
 public:
  Stream() = default;
  explicit Stream(const Location& at) : Owned(at) {
    constexpr unsigned non_blocking = 1;
    const Current current(at_);
    must(at_.driver->api.stream_create(&what_, non_blocking), *at_.driver, "make a stream");
  }
  void wait_for(Handle event) const {
    must(at_.driver->api.stream_wait_event(what_, event, 0), *at_.driver, "let a stream wait");
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    must(at_.driver->vendor.copy(*at_.driver, to, from, bytes, what_), *at_.driver, "copy");
  }
};

class Event : public Owned<Handle, &Api::event_destroy> {
 public:
  Event() = default;
  explicit Event(const Location& at) : Owned(at) {
    constexpr unsigned disable_timing = 2;
    const Current current(at_);
    must(at_.driver->api.event_create(&what_, disable_timing), *at_.driver, "make an event");
  }
  void record(Handle stream) const {
    must(at_.driver->api.event_record(what_, stream), *at_.driver, "record an event");
  }
  bool is_over() const {
    const int code = at_.driver->api.event_query(what_);
    if (code != not_ready) must(code, *at_.driver, "copy");
    return code == 0;
  }
  void wait() const { must(at_.driver->api.event_synchronize(what_), *at_.driver, "copy"); }
};

/// Host memory that devices read and write without a copy.
class PinnedMemory : public Owned<void*, &Api::host_free> {
 public:
  PinnedMemory() = default;
  PinnedMemory(const Location& at, std::size_t bytes) : Owned(at) {
    constexpr unsigned portable_and_mapped = 3;
    const Current current(at_);
    must(at_.driver->api.host_alloc(&what_, bytes, portable_and_mapped), *at_.driver,
         "allocate pinned memory");
  }
};

class DeviceMemory : public Owned<void*, &Api::mem_free> {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Location& at, std::size_t bytes) : Owned(at) {
    const Current current(at_);
    must(at_.driver->api.mem_alloc(&what_, bytes), *at_.driver, "allocate memory");
  }
};

}  // namespace nuice::device
