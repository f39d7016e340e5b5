// SPDX-License-Identifier: BSD-3-Clause
// Which ranks have died, where MPI can tell, and what the others hear of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/support/watchdog.hpp"
#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

/// Whether this MPI lets the others live when a rank dies, and tells them.
bool tells_of_deaths();

/// Where MPI tells of deaths: what it writes to the socket of a rank that has died raises SIGPIPE, which ends a process without a
/// word. Open MPI 5 leaves that signal as it is. Ignores it, unless the program has a handler.
void outlive_broken_pipes();

/// Not collective. The ranks that MPI knows to be dead; none where it does not tell. Where it does, every rank hears of it,
/// within milliseconds and inside calls of MPI. A few function calls.
std::vector<Rank> dead_ranks(const Communicator& comm);
std::vector<Rank> dead_ranks(MPI_Comm comm);

/// The error with the dead, unless it names some already.
Error naming(const Error& error, const std::vector<Rank>& dead);
/// Not collective. The error of MPI with the ranks that have died; other errors as they are.
Error with_dead_ranks(const Error& error, const Communicator& comm);
/// Collective. A duplicate of the user's communicator that watches. An error names the dead, but leaves that as it is.
std::shared_ptr<const Communicator> duplicate(MPI_Comm parent, double watchdog_s,
                                              const Communicator* known = nullptr);

/// Runs what communicates over comm. Errors leave it with the names of the dead. No other rank waits for one that gives up: all look
/// for deaths themselves (collective.hpp), so nothing is revoked, which other exchanges might not survive (Open MPI 5.0.11 then
/// ended the program at times: "Send error after request freed").
template <typename Act>
decltype(auto) naming_dead_ranks(const Communicator& comm, Act&& act) {
  try {
    return act();
  } catch (const Error& error) {
    throw with_dead_ranks(error, comm);
  }
}

}  // namespace nuice::mpi
