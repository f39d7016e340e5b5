// SPDX-License-Identifier: BSD-3-Clause
// The neighbours of a rank in a communicator's topology, in the order of MPI's neighbourhood collectives.
#pragma once

#include <mpi.h>

#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::mpi {

struct Neighbours {
  std::vector<Rank> sources;  ///< Sources and destinations may contain MPI_PROC_NULL.
  std::vector<Rank> destinations;
  /// Whether there are two neighbours per dimension, below and above. A message to the neighbour above then
  /// arrives as a message from the neighbour below. The difference matters if both are the same rank.
  bool are_opposite = false;

  /// Not collective. Throws Error `invalid_argument` for a communicator without a topology.
  static Neighbours of(MPI_Comm comm);
  static Neighbours all_ranks(MPI_Comm comm);
};

}  // namespace nuice::mpi
