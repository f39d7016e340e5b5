// SPDX-License-Identifier: BSD-3-Clause
// A GPU-aware MPI without a GPU: the calls of point-to-point messages in aware_mpi.cpp stand before MPI's own and translate the fake
// driver's addresses.
#pragma once

namespace nuice::test {

/// Whether MPIX_Query_cuda_support says so. Calls translate in any case.
void set_gpu_aware(bool is_aware);
/// Calls that named device memory since the start.
long num_device_calls();

}  // namespace nuice::test
