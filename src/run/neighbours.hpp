// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks that the neighbourhood collectives of a communicator connect.
#pragma once

#include <mpi.h>

#include <vector>

namespace nuice::run {

/// Returns the ranks to which this rank sends, in the order of their blocks. If a block has no rank, its
/// entry is MPI_PROC_NULL. A rank may occur several times. Empty without a topology.
std::vector<int> neighbours_of(MPI_Comm comm);

}  // namespace nuice::run
