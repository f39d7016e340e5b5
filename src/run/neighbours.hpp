// SPDX-License-Identifier: BSD-3-Clause
// Which ranks the neighbourhood collectives of a communicator connect.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace nuice::run {

/// By the place of their blocks; MPI_PROC_NULL: none there. One rank may stand there several times.
struct Neighbours {
  std::vector<int> sources;
  std::vector<int> destinations;
  bool is_grid = false;
  /// A periodic grid with one neighbour on both sides: in which order its blocks come MPI's implementations
  /// disagree about.
  bool is_ambiguous = false;

  /// The place of the i-th block to receive, so that blocks from one rank come in the order in which it
  /// sends them. Of a grid, what left towards one side comes from the other (MPI 4.0, s.8.6).
  std::size_t incoming(std::size_t i) const { return is_grid ? i ^ 1U : i; }
};

/// Both lists empty without a topology.
Neighbours neighbours_of(MPI_Comm comm);

}  // namespace nuice::run
