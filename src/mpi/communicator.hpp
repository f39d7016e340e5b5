// SPDX-License-Identifier: BSD-3-Clause
// A duplicate of the user's communicator: our messages cannot meet the user's, and errors come back as codes.
#pragma once

#include <mpi.h>

#include <memory>

#include "nuice/core/types.hpp"

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

/// The largest that MPI allows: at least 32,767.
int largest_tag();

/// Collective. Goes on to the tags of the next exchange, which are next_tag and the one behind it. When there are no more, comm
/// becomes a duplicate of itself, whose tags are all free: exchanges that hold the old one never meet a new one's messages.
void take_tags(std::shared_ptr<const Communicator>& comm, int& next_tag, int last_tag = largest_tag());

}  // namespace nuice::mpi
