// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether this MPI reads and writes device memory. MPIs have different functions that say so. All
// are looked up at run time, so that one build works with every MPI.
#pragma once

#include <string>

#include "device/driver.hpp"

namespace nuice::mpi {

struct GpuAwareness {
  bool is_aware = false;
  std::string says;  ///< How this is known, such as "MPIX_Query_cuda_support says yes".
};
/// Not collective. vendor: "cuda" or "hip".
GpuAwareness gpu_awareness(std::string_view vendor);

}  // namespace nuice::mpi
