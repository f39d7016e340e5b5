// SPDX-License-Identifier: BSD-3-Clause
// Uses drivers of GPUs without their headers and libraries: a driver is searched among the libraries that the
// process has already loaded. A process without a driver has no device memory, so it pays for one comparison,
// and no library is opened.
//
//   const Location at = locate(pointer);      // where the memory lies; for host memory driver is null
//   const Current current(at);                // from here on, calls are for its device
//   must(at.driver->api.memcpy_async(to, from, bytes, stream), *at.driver, "copy");
//
// A vendor is an entry in vendors.cpp. HIP has the same entry points as CUDA under other names, except for
// four, which its entry adapts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nuice::device {

using Handle = void*;  ///< A stream, an event, a module or a function of the driver.

/// The entry points of a driver. All return the driver's code, 0 for success.
struct Api {
  int (*pointer_attribute)(void* value, int attribute, const void* pointer);
  int (*stream_create)(Handle* stream, unsigned flags);
  int (*stream_destroy)(Handle stream);
  int (*stream_wait_event)(Handle stream, Handle event, unsigned flags);
  int (*event_create)(Handle* event, unsigned flags);
  int (*event_destroy)(Handle event);
  int (*event_record)(Handle event, Handle stream);
  int (*event_query)(Handle event);
  int (*event_synchronize)(Handle event);
  int (*host_alloc)(void** memory, std::size_t bytes, unsigned flags);
  int (*host_free)(void* memory);
  int (*mem_alloc)(void** memory, std::size_t bytes);
  int (*mem_free)(void* memory);
  int (*module_load)(Handle* module, const void* image);
  int (*module_function)(Handle* function, Handle module, const char* name);
  int (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, Handle stream, void** arguments,
                void** extra);
  // Entry points that differ between vendors. They have no types here, and only the vendor's own functions
  // call them.
  void (*memcpy_async)();
  void (*error_name)();
  void (*set_current)();
  void (*restore_current)();
  void (*device_context)();
};
constexpr int not_ready = 600;  ///< The result of event_query before the event has occurred, for CUDA and
                                ///< HIP.

struct Driver;
struct Location;

/// A vendor of GPUs.
struct Vendor {
  std::string_view name;                        ///< The name, such as "cuda".
  std::string_view library;                     ///< The beginning of the driver's file name.
  std::span<const char* const> symbols;         ///< The names of the entry points, in the order of Api.
  int (*memory_type_of_device)(const Driver&);  ///< Returns the attribute's value for device memory.
  int (*copy)(const Driver&, void* to, const void* from, std::size_t bytes, Handle stream);
  std::string (*describe)(const Driver&, int code);
  /// Makes the location's device current in this thread. leave() restores the previous device.
  int (*enter)(const Location&, void** before);
  void (*leave)(const Location&, void* before) noexcept;
  /// Returns the image of this library's kernels for module_load. If there is no image, returns an empty
  /// string and sets why_not.
  std::string (*kernels)(const Driver&, std::string& why_not);
};
std::span<const Vendor> vendors();

/// A driver that this process has loaded.
struct Driver {
  const Vendor& vendor;
  Handle library;
  Api api;
};

/// The place of memory: the host, or a device.
struct Location {
  const Driver* driver = nullptr;  ///< Null: on the host. Managed and pinned memory counts as host memory.
  int device = 0;
  Handle context = nullptr;  ///< The context of the memory, if the driver knows it.

  bool is_on_device() const { return driver != nullptr; }
  bool operator==(const Location&) const = default;
  /// Returns a name: "cuda device 0" or "the host".
  std::string name() const;
};

/// Returns whether this process has loaded a driver. Takes O(1) time, unless libraries have been loaded since
/// the last call.
bool any_driver();
/// Returns the location of memory. Throws Error `device` if the driver lacks one of the entry points.
Location locate(const void* memory);

/// Throws Error `device` unless code is 0. The text names the driver, the failed action, and the driver's
/// name of the error.
void must(int code, const Driver& driver, const char* what);

/// While this object exists, the calling thread's driver calls are for the location's device. Does nothing if
/// the location is on the host.
class Current {
 public:
  explicit Current(const Location& at);
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current();

 private:
  const Location& at_;
  void* before_ = nullptr;
};

}  // namespace nuice::device
