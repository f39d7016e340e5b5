// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/staging/gpu_aware.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "mpi/communicator.hpp"

namespace nuice::mpi {
namespace {

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Asks Open MPI.
std::optional<GpuAwareness> ask_open_mpi(bool is_hip) {
  const char* const name = is_hip ? "MPIX_Query_rocm_support" : "MPIX_Query_cuda_support";
  auto* const query = find<int()>(name);
  if (query == nullptr) return {};
  const bool is_aware = query() != 0;
  return GpuAwareness{is_aware, std::string(name) + (is_aware ? " says yes" : " says no")};
}

/// Asks MPICH. The numbers are taken from its mpi.h.
std::optional<GpuAwareness> ask_mpich(bool is_hip) {
  auto* const query = find<int(int, int*)>("MPIX_GPU_query_support");
  if (query == nullptr) return {};
  int is_aware = 0;
  if (query(is_hip ? 2 : 0, &is_aware) != MPI_SUCCESS) is_aware = 0;
  return GpuAwareness{is_aware != 0,
                      std::string("MPIX_GPU_query_support says ") + (is_aware != 0 ? "yes" : "no")};
}

/// Asks for the memory kinds of MPI 4.1.
std::optional<GpuAwareness> ask_memory_kinds(bool is_hip) {
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_Comm_get_info(any_comm(), &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return {};
  std::array<char, 512> kinds{};
  int is_there = 0;
  MPI_Info_get(info, "mpi_memory_alloc_kinds", static_cast<int>(kinds.size()) - 1, kinds.data(), &is_there);
  MPI_Info_free(&info);
  if (is_there == 0) return {};
  const bool is_aware =
      std::string_view(kinds.data()).find(is_hip ? "rocm" : "cuda") != std::string_view::npos;
  return GpuAwareness{is_aware, std::string("mpi_memory_alloc_kinds is \"") + kinds.data() + "\""};
}

/// Asks the environment variable that configures Cray's MPICH.
std::optional<GpuAwareness> ask_environment() {
  const char* const value = std::getenv("MPICH_GPU_SUPPORT_ENABLED");
  if (value == nullptr) return {};
  const bool is_aware = std::string_view(value) == "1";
  return GpuAwareness{is_aware, std::string("MPICH_GPU_SUPPORT_ENABLED is ") + value};
}

}  // namespace

GpuAwareness gpu_awareness(std::string_view vendor) {
  const bool is_hip = vendor == "hip";
  GpuAwareness last{false, "this MPI has no way to tell"};
  for (const auto& answer :
       {ask_open_mpi(is_hip), ask_mpich(is_hip), ask_memory_kinds(is_hip), ask_environment()}) {
    if (!answer) continue;
    if (answer->is_aware) return *answer;
    last = *answer;
  }
  return last;
}

}  // namespace nuice::mpi
