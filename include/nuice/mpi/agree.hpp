// SPDX-License-Identifier: BSD-3-Clause
// Collective error agreement: a step fails on all ranks with the same Error, or on none.
//
//   nuice::mpi::all_or_none(MPI_COMM_WORLD, [&] { memory.resize(as_much_as_this_rank_needs); });
//
// The step must not communicate: if one rank threw an error early, the other ranks would wait for this rank
// inside the step. If MPI itself fails inside a collective operation, ranks cannot agree, because they can no
// longer communicate. The communicator's error handler is then called; if the handler returns, this rank
// throws Error with code `mpi`.
// Cost: one allreduce of an int; after a failure, three broadcasts in addition.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>

#include "nuice/core/outcome.hpp"

namespace nuice::mpi {

/// Returns the number of this rank in comm.
inline Rank rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline Rank world_rank() { return rank_in(MPI_COMM_WORLD); }
inline Rank world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Collective. Returns if no rank has an error. Otherwise all ranks throw the error of the lowest rank that
/// has an error.
void agree(MPI_Comm comm, const Outcome& mine);

/// Collective. Runs the step on every rank. If it throws on one rank, all ranks throw the same Error
/// (nuice/core/outcome.hpp).
template <typename Step>
void all_or_none(MPI_Comm comm, Step&& step) {
  agree(comm, attempt(rank_in(comm), std::forward<Step>(step)));
}

/// Collective. Runs the step on rank 0 only. If it throws, all ranks throw the same Error.
template <typename Step>
void on_rank_0(MPI_Comm comm, Step&& step) {
  all_or_none(comm, [&] {
    if (rank_in(comm) == 0) step();
  });
}

/// Collective. Returns the text of rank 0 on all ranks. At most 2^31 - 1 bytes.
std::string text_of_rank_0(MPI_Comm comm, std::string text);

/// Collective. Returns the largest value of all ranks.
inline double max_over_ranks(double value, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

}  // namespace nuice::mpi
