// SPDX-License-Identifier: BSD-3-Clause
#include "run/mpi.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace nuice::run {
namespace {

std::string_view without_folder(std::string_view path) { return path.substr(path.rfind('/') + 1); }

int promote(dl_phdr_info* info, std::size_t, void* is_found) {
  const std::string_view name = without_folder(info->dlpi_name);
  if (!name.starts_with("libmpi.so") && !name.starts_with("libmpich.so")) return 0;
  *static_cast<bool*>(is_found) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr;
  return 1;
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  for (const std::string_view each : beginnings)
    if (name.starts_with(each)) return true;
  return false;
}

}  // namespace

void find_mpi() {
  if (dlsym(RTLD_DEFAULT, "PMPI_Comm_rank") != nullptr) return;
  bool is_found = false;
  dl_iterate_phdr(promote, &is_found);
}

void* next_named(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    find_mpi();
    found = dlsym(RTLD_NEXT, name);
  }
  if (found != nullptr) return found;
  std::fprintf(stderr, "nuice: the program's MPI has no function %s\n", name);
  std::abort();
}

#ifdef OPEN_MPI
MPI_Comm world() {
  static void* const object = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
  return static_cast<MPI_Comm>(object);
}
MPI_Request null_request() {
  static void* const object = dlsym(RTLD_DEFAULT, "ompi_request_null");
  return static_cast<MPI_Request>(object);
}
MPI_Comm null_comm() {
  static void* const object = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_null");
  return static_cast<MPI_Comm>(object);
}
#else
MPI_Comm world() { return MPI_COMM_WORLD; }
MPI_Request null_request() { return MPI_REQUEST_NULL; }
MPI_Comm null_comm() { return MPI_COMM_NULL; }
#endif

std::string file_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return std::string(without_folder(info.dli_fname));
}

bool is_mpi_code(const void* address) {
  return starts_with_any(file_of(address),
                         {"libmpi", "libmpich", "libmpifort", "libopen-", "mca_", "libnuice_record"});
}

bool is_own_call(const void* return_address) {
  static std::mutex mutex;
  // This map is never destroyed, because programs may call MPI until they end.
  static auto* const known = new std::unordered_map<const void*, bool>();
  const std::scoped_lock lock(mutex);
  const auto [found, is_new] = known->try_emplace(return_address, false);
  if (is_new)
    found->second = is_mpi_code(return_address) &&
                    !starts_with_any(file_of(return_address), {"libmpi_", "libmpifort", "libmpichf"});
  return found->second;
}

}  // namespace nuice::run
