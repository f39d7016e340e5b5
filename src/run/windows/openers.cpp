// SPDX-License-Identifier: BSD-3-Clause
#include "run/windows/openers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace nuice::run {
namespace {

/// The libraries of Open MPI 4 (one per component), Open MPI 5 (TCP is in libopen-pal or libmpi), MPICH,
/// libfabric and UCX, which connects in libucs.
constexpr std::array<std::string_view, 10> libraries_of_mpi = {
    "libmpi", "libopen-pal", "libopen-rte", "mca_btl_tcp", "libfabric",
    "libuct", "libucp",      "libucs",      "libmpich",    "libpmpi"};

std::string_view setting() {
  static const char* const value = std::getenv("NUICE_FLOW");
  return value == nullptr ? std::string_view{} : value;
}

std::atomic<bool> is_turned_off{false};

}  // namespace

bool is_on() { return !is_turned_off.load(std::memory_order_relaxed) && setting() != "off"; }

void turn_off() { is_turned_off = true; }

bool is_governed_opener(const void* caller) {
  if (!is_on()) return false;
  if (setting() == "all") return true;
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  std::string_view file = info.dli_fname;
  file.remove_prefix(std::min(file.size(), file.rfind('/') + 1));
  return std::ranges::any_of(libraries_of_mpi, [&](std::string_view name) { return file.starts_with(name); });
}

}  // namespace nuice::run
