// SPDX-License-Identifier: BSD-3-Clause
// An MPI that takes longer, preloaded behind the library under test: its all-to-alls SLOW_MPI_MS, and what
// only those that stand in for them call, SLOW_US_MS.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void lose_time(const char* name) {
  const char* const text = std::getenv(name);
  if (text != nullptr) usleep(1000U * static_cast<unsigned>(std::atoi(text)));
}

template <typename Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define SLOW(symbol, setting, PARAMETERS, ...)                              \
  extern "C" __attribute__((visibility("default"))) int symbol PARAMETERS { \
    static const auto next = next_of<decltype(&symbol)>(#symbol);           \
    lose_time(setting);                                                     \
    return next(__VA_ARGS__);                                               \
  }
#define V                                                                                                  \
  const void *data, const int *counts, const int *at, MPI_Datatype type, void *came, const int *in_counts, \
      const int *in_at, MPI_Datatype in_type, MPI_Comm comm
#define V_ARGUMENTS data, counts, at, type, came, in_counts, in_at, in_type, comm
#define SEND \
  const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request
#define SEND_ARGUMENTS data, count, type, to, tag, comm, request
SLOW(MPI_Alltoallv, "SLOW_MPI_MS", (V), V_ARGUMENTS)
SLOW(MPI_Neighbor_alltoallv, "SLOW_MPI_MS", (V), V_ARGUMENTS)
SLOW(MPI_Ialltoallv, "SLOW_MPI_MS", (V, MPI_Request* request), V_ARGUMENTS, request)
SLOW(MPI_Ineighbor_alltoallv, "SLOW_MPI_MS", (V, MPI_Request* request), V_ARGUMENTS, request)
SLOW(PMPI_Isend, "SLOW_US_MS", (SEND), SEND_ARGUMENTS)
SLOW(PMPI_Send_init, "SLOW_US_MS", (SEND), SEND_ARGUMENTS)
// NOLINTEND(bugprone-macro-parentheses)
