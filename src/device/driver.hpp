// SPDX-License-Identifier: BSD-3-Clause
// Drivers of GPUs, without their headers and libraries: a driver is looked for among what the process has loaded already. A process
// that has loaded none has no device memory, so it pays one comparison and no library is opened.
//
//   const Location at = locate(pointer);      // where that memory lies; host memory: no driver
//   const Current current(at);                // calls from here on are for its device
//   must(at.driver->api.memcpy_async(to, from, bytes, stream), *at.driver, "copy");
//
// A vendor is a row in vendors.cpp. HIP has CUDA's entry points under other names, but for four that rows adapt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nuice::device {

using Handle = void*;  ///< A stream, an event, a module, a function: the driver's.

/// The entry points. All return the driver's code, 0 for success.
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
  // Where the vendors differ: as they are, called by the row alone.
  void (*memcpy_async)();
  void (*error_name)();
  void (*set_current)();
  void (*restore_current)();
  void (*device_context)();
};
constexpr int not_ready = 600;  ///< Of event_query: CUDA's and HIP's code.

struct Driver;
struct Location;

/// A vendor.
struct Vendor {
  std::string_view name;                        ///< "cuda"
  std::string_view library;                     ///< What the name of the driver's file begins with.
  std::span<const char* const> symbols;         ///< In the order of Api.
  int (*memory_type_of_device)(const Driver&);  ///< What the attribute says of device memory.
  int (*copy)(const Driver&, void* to, const void* from, std::size_t bytes, Handle stream);
  std::string (*describe)(const Driver&, int code);
  /// Makes the location's device the thread's, and what it was again.
  int (*enter)(const Location&, void** before);
  void (*leave)(const Location&, void* before) noexcept;
  /// The image that module_load takes, of the kernels of this library; empty, with the reason, where there is none.
  std::string (*kernels)(const Driver&, std::string& why_not);
};
std::span<const Vendor> vendors();

/// A driver that this process has loaded.
struct Driver {
  const Vendor& vendor;
  Handle library;
  Api api;
};

/// Where memory lies.
struct Location {
  const Driver* driver = nullptr;  ///< Null: on the host. Managed and pinned memory is the host's.
  int device = 0;
  Handle context = nullptr;  ///< The memory's own, where the driver says so.

  bool is_on_device() const { return driver != nullptr; }
  bool operator==(const Location&) const = default;
  /// "cuda device 0", "the host"
  std::string name() const;
};

/// Whether this process has loaded a driver. O(1), unless libraries have been loaded since the last call.
bool any_driver();
/// Throws Error device for a driver without one of the entry points.
Location locate(const void* memory);

/// Throws Error device, which names the driver, what was to be done, and the driver's own name of the error.
void must(int code, const Driver& driver, const char* what);

/// While this lives, the calling thread's calls are for that device. Nothing for the host.
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
