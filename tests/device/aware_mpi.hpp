// SPDX-License-Identifier: BSD-3-Clause
// A GPU-aware MPI without a GPU: the calls of point-to-point messages in aware_mpi.cpp stand before MPI's own
// and translate the fake driver's addresses.
#pragma once

#include <vector>

#include "device/fake_driver.hpp"
#include "nuice/mpi/options.hpp"

namespace nuice::test {

/// Whether MPIX_Query_cuda_support says so. Calls translate in any case.
void set_gpu_aware(bool is_aware);
/// Calls that named device memory since the start.
long num_device_calls();
/// The paths that the MPI of these tests can take.
inline std::vector<mpi::DeviceWay> device_ways() {
  if (!is_fake_gpu()) return {mpi::DeviceWay::staged};
  return {mpi::DeviceWay::staged, mpi::DeviceWay::direct};
}

}  // namespace nuice::test
