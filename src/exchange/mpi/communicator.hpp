// SPDX-License-Identifier: BSD-3-Clause
// A duplicate of the user's communicator: our messages cannot meet the user's, and errors come back as codes.
#pragma once

#include <mpi.h>

#include "nuice/types.hpp"

namespace nuice::mpi {

class Communicator {
 public:
  /// Collective. Throws Error state before MPI_Init or after MPI_Finalize, invalid_argument for MPI_COMM_NULL
  /// and for an intercommunicator.
  explicit Communicator(MPI_Comm parent);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  MPI_Comm get() const { return comm_; }
  Rank rank() const { return rank_; }
  Rank num_ranks() const { return num_ranks_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank rank_ = 0;
  Rank num_ranks_ = 0;
};

/// The tag of the next exchange over a communicator: 0 follows the largest one that MPI allows.
int tag_after(int tag);

}  // namespace nuice::mpi
