// SPDX-License-Identifier: BSD-3-Clause
// This library is linked with no MPI: it is for whichever the program has loaded, and it is loaded into processes that have
// none (mpiexec, shells). MPI's functions are looked up when they are called first; its objects here.
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

#include "dropin/record.hpp"

namespace nuice::dropin {
#ifdef OPEN_MPI
void* mpi_object(const char* name);  // pmpi.hpp
#endif
namespace {

int promote(dl_phdr_info* info, std::size_t, void* is_found) {
  const char* const slash = std::strrchr(info->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (std::strncmp(name, "libmpi.so", 9) != 0 && std::strncmp(name, "libmpich.so", 11) != 0) return 0;
  *static_cast<bool*>(is_found) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr;
  return 1;
}

}  // namespace

void find_mpi() {
  if (dlsym(RTLD_DEFAULT, "PMPI_Comm_rank") != nullptr) return;
  bool is_found = false;
  dl_iterate_phdr(promote, &is_found);
}

#ifdef OPEN_MPI
void* mpi_object(const char* name) { return dlsym(RTLD_DEFAULT, name); }

MPI_Comm world() {
  static void* const object = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
  return static_cast<MPI_Comm>(object);
}
MPI_Request null_request() {
  static void* const object = dlsym(RTLD_DEFAULT, "ompi_request_null");
  return static_cast<MPI_Request>(object);
}
#else
MPI_Comm world() { return MPI_COMM_WORLD; }
MPI_Request null_request() { return MPI_REQUEST_NULL; }
#endif

}  // namespace nuice::dropin
