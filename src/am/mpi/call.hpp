// SPDX-License-Identifier: BSD-3-Clause
// MPI calls with errors, and a communicator of our own.
#pragma once

#include <mpi.h>

#include <exception>
#include <functional>

#include "nuice/types.hpp"

namespace nuice::am::mpi {

/// Throws TransportError mpi with the name of the call and MPI's own text unless code is MPI_SUCCESS.
void must(int code, const char* call);

/// Whether MPI calls are allowed no more: destructors then leave MPI's objects alone.
bool is_finalized();

/// A duplicate of the user's communicator whose errors come back as codes.
class Communicator {
 public:
  /// Collective. Throws Error state before MPI_Init or after MPI_Finalize, invalid_argument for MPI_COMM_NULL and an
  /// intercommunicator.
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

/// Collective: the step, which must not communicate, succeeds on all ranks, or all throw what the lowest failing rank
/// threw.
void all_or_none(const Communicator& comm, const std::function<void()>& step);

}  // namespace nuice::am::mpi
