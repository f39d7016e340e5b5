// SPDX-License-Identifier: BSD-3-Clause
// Which ranks have died, where MPI can tell.
#pragma once

#include <string>
#include <vector>

#include "exchange/mpi/communicator.hpp"
#include "nuice/error.hpp"

namespace nuice::mpi {

/// "rank 2, rank 3 and 5 more". At least one.
std::string names_of(std::vector<Rank> ranks);

/// Not collective. Ranks that MPI knows to be dead: with the fault tolerance of Open MPI (mpiexec --with-ft ulfm). Empty
/// elsewhere. Never throws.
std::vector<Rank> dead_ranks(const Communicator& comm) noexcept;

/// The error of MPI with the ranks that have died; other errors as they are.
Error with_dead_ranks(const Error& error, const Communicator& comm);

}  // namespace nuice::mpi
