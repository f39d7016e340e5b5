// SPDX-License-Identifier: BSD-3-Clause
// The neighbours of a rank by the topology of a communicator, in the order of MPI's neighbourhood collectives.
#pragma once

#include <mpi.h>

#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::mpi {

struct Neighbours {
  std::vector<Rank> sources;  ///< May be MPI_PROC_NULL, as destinations.
  std::vector<Rank> destinations;
  /// Two for each dimension, of which what is sent to one comes from the other. It matters where both are one rank.
  bool are_opposite = false;

  /// Not collective. Throws Error invalid_argument for a communicator without a topology.
  static Neighbours of(MPI_Comm comm);
  static Neighbours all_ranks(MPI_Comm comm);
};

}  // namespace nuice::mpi
