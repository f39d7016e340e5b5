// SPDX-License-Identifier: BSD-3-Clause
// Finding out which ranks have died, if MPI reports deaths, and naming these ranks in errors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/support/watchdog.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

/// Whether this MPI lets other ranks continue when a rank dies, and reports the death to them.
bool tells_of_deaths();

/// If MPI reports deaths, ignores SIGPIPE, unless the program handles it. Otherwise this signal would end the
/// process without an error message when MPI writes to the socket of a dead rank. Open MPI 5 does not handle
/// the signal.
void outlive_broken_pipes();

/// Not collective. Returns the ranks that MPI knows to be dead; empty if MPI does not report deaths. If MPI
/// reports deaths, every rank learns of a death within milliseconds, but only inside calls of MPI. Cost: a
/// few function calls.
std::vector<Rank> dead_ranks(const Communicator& comm);
std::vector<Rank> dead_ranks(MPI_Comm comm);

/// Returns the error with the names of dead ranks added. If its text already names dead ranks, returns it
/// unchanged.
Error naming(const Error& error, const std::vector<Rank>& dead);
/// Not collective. Adds the names of dead ranks to an error `mpi`. Returns other errors unchanged.
Error with_dead_ranks(const Error& error, const Communicator& comm);
/// Collective. Returns a duplicate of the user's communicator. The duplicate watches for deaths and timeouts,
/// and its errors name the dead ranks. The user's communicator is not changed.
std::shared_ptr<const Communicator> duplicate(MPI_Comm parent, double watchdog_s,
                                              const Communicator* known = nullptr);

/// Runs act(), which communicates over comm, and adds the names of dead ranks to its errors. Does not revoke
/// the communicator. Revoking is not needed, because all ranks check for deaths themselves (collective.hpp),
/// so no rank waits for a rank that stops with an error. Revoking could also break other exchanges: Open MPI
/// 5.0.11 sometimes ended the program with "Send error after request freed".
template <typename Act>
decltype(auto) naming_dead_ranks(const Communicator& comm, Act&& act) {
  try {
    return act();
  } catch (const Error& error) {
    throw with_dead_ranks(error, comm);
  }
}

}  // namespace nuice::mpi
