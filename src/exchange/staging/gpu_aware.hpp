// SPDX-License-Identifier: BSD-3-Clause
// Whether this MPI reads and writes a device's memory. No MPI has one name for it: all are looked up at run time, so that one build
// serves every MPI.
#pragma once

#include <string>

#include "device/driver.hpp"

namespace nuice::mpi {

struct GpuAwareness {
  bool is_aware = false;
  std::string says;  ///< By what it is known: "MPIX_Query_cuda_support says yes".
};
/// vendor: "cuda" or "hip". Not collective.
GpuAwareness gpu_awareness(std::string_view vendor);

}  // namespace nuice::mpi
