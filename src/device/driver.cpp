// SPDX-License-Identifier: BSD-3-Clause
#include "device/driver.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>

#include "nuice/core/error.hpp"

namespace nuice::device {
namespace {

constexpr std::size_t most_vendors = 4;
constexpr std::size_t num_symbols = sizeof(Api) / sizeof(void (*)());

/// The driver of a vendor. A driver that was found is kept, because drivers are never unloaded.
struct Found {
  std::optional<Driver> driver;
  std::string fault;  // why the loaded driver of this vendor cannot be used; empty otherwise
};

std::mutex lock;  // protects the variables below
std::array<Found, most_vendors> found;
std::atomic<int> num_found = 0;
std::atomic<unsigned long long> looked_after = 0;  // num_loads() at the last search for drivers

/// Returns how many libraries this process has ever loaded.
unsigned long long num_loads() {
  unsigned long long loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;  // every entry has the same number, so the first suffices
      },
      &loads);
  return loads;
}

/// Returns the file of a loaded library whose name begins with `begin`; empty if there is none.
std::string loaded_file(std::string_view begin) {
  struct Search {
    std::string_view begin;
    std::string file;
  } search{begin, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        Search& wanted = *static_cast<Search*>(result);
        const std::string_view file = info->dlpi_name;
        if (!file.substr(file.rfind('/') + 1).starts_with(wanted.begin)) return 0;
        wanted.file = file;
        return 1;
      },
      &search);
  return search.file;
}

void load(const Vendor& vendor, Found& entry) {
  const std::string file = loaded_file(vendor.library);
  if (file.empty()) return;
  const Handle library = dlopen(file.c_str(), RTLD_NOLOAD | RTLD_NOW);
  if (library == nullptr) return;
  std::array<void (*)(), num_symbols> functions{};
  for (std::size_t i = 0; i < num_symbols; ++i) {
    void* const symbol = dlsym(library, vendor.symbols[i]);
    if (symbol == nullptr && entry.fault.empty()) entry.fault = file + " has no " + vendor.symbols[i];
    functions[i] = reinterpret_cast<void (*)()>(symbol);
  }
  entry.driver.emplace(Driver{vendor, library, {}});
  std::memcpy(&entry.driver->api, functions.data(), sizeof(Api));
  ++num_found;
}

void look_for_drivers() {
  const unsigned long long loads = num_loads();
  if (loads == looked_after.load(std::memory_order_acquire)) return;
  const std::scoped_lock locked(lock);
  for (std::size_t i = 0; i < vendors().size(); ++i)
    if (!found[i].driver) load(vendors()[i], found[i]);
  looked_after.store(loads, std::memory_order_release);
}

std::optional<Location> location_in(const Driver& driver, const void* memory) {
  enum Attribute { context = 1, memory_type = 2, is_managed = 8, device_ordinal = 9 };
  int type = 0;
  if (driver.api.pointer_attribute(&type, memory_type, memory) != 0) return {};
  if (type != driver.vendor.memory_type_of_device(driver)) return {};
  unsigned managed = 0;
  if (driver.api.pointer_attribute(&managed, is_managed, memory) == 0 && (managed & 0xff) != 0) return {};
  Location at{&driver};
  must(driver.api.pointer_attribute(&at.device, device_ordinal, memory), driver, "find a pointer's device");
  if (driver.api.pointer_attribute(static_cast<void*>(&at.context), context, memory) != 0)
    at.context = nullptr;
  return at;
}

}  // namespace

bool any_driver() {
  look_for_drivers();
  return num_found.load(std::memory_order_acquire) > 0;
}

Location locate(const void* memory) {
  if (memory == nullptr || !any_driver()) return {};
  for (std::size_t i = 0; i < vendors().size(); ++i) {
    const Found& entry = found[i];
    if (!entry.driver) continue;
    if (!entry.fault.empty()) throw Error(ErrorCode::device, entry.fault + ": this driver cannot be used");
    if (const auto at = location_in(*entry.driver, memory)) return *at;
  }
  return {};
}

std::string Location::name() const {
  return driver == nullptr ? "the host"
                           : std::string(driver->vendor.name) + " device " + std::to_string(device);
}

void must(int code, const Driver& driver, const char* what) {
  if (code == 0) return;
  throw Error(ErrorCode::device, std::string(driver.vendor.name) + " cannot " + what + ": " +
                                     driver.vendor.describe(driver, code));
}

Current::Current(const Location& at) : at_(at) {
  if (at.is_on_device()) must(at.driver->vendor.enter(at, &before_), *at.driver, "use a device");
}

Current::~Current() {
  if (at_.is_on_device()) at_.driver->vendor.leave(at_, before_);
}

}  // namespace nuice::device
