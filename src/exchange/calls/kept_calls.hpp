// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallv and its relatives without init (nuice/mpi/alltoallv.hpp). What a call needs is kept with the
// communicator, and found again by the call's arguments.
#pragma once

#include <mpi.h>

#include "nuice/core/outcome.hpp"
#include "nuice/mpi/alltoallv.hpp"

namespace nuice::mpi {

/// The arguments of one call.
struct CallArguments {
  bool is_neighbor;
  bool is_in_place;  ///< If true, `send` is not used.
  const SendBlocks& send;
  const ReceiveBlocks& receive;
  Outcome fault = {};  ///< An error that was found before the call.
};

/// Collective. Carries out a call. Uses what earlier calls on comm have kept.
void run_kept(MPI_Comm comm, const CallArguments& call);

}  // namespace nuice::mpi
