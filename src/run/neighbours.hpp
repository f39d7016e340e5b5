// SPDX-License-Identifier: BSD-3-Clause
// Which ranks the neighbourhood collectives of a communicator connect.
#pragma once

#include <mpi.h>

#include <vector>

namespace nuice::run {

/// The ranks that this one sends to, by the place of their blocks; MPI_PROC_NULL: none there. One rank may stand there several
/// times. Empty without a topology.
std::vector<int> neighbours_of(MPI_Comm comm);

}  // namespace nuice::run
