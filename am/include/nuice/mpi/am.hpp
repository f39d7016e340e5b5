// SPDX-License-Identifier: BSD-3-Clause
// Active messages between the ranks of a communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "nuice/am/endpoint.hpp"
#include "nuice/am/transport.hpp"

namespace nuice::am::mpi {

/// The options of connect(). All except watchdog_s must be equal on all ranks.
struct Options {
  /// The transport: "mpi": MPI point to point, the portable choice. "ucx": UCX active messages, with
  /// addresses exchanged over MPI; only if NUICE was built with UCX. "shm": rings in shared memory between
  /// ranks of one host, "mpi" to other hosts. "shm+ucx": rings in shared memory between ranks of one host,
  /// "ucx" to other hosts. "best": "shm" if some ranks share a host, otherwise "mpi".
  std::string transport = "best";
  std::size_t max_message_bytes = 32768;  ///< The capacity of one message; at least 256, at most 1 MiB.
  /// mpi: the maximum number of messages in flight from one rank to another, 2 to 250. A receiver then has at
  /// most num_ranks times as many unexpected messages.
  int credits = 240;
  int receives = 16;  ///< mpi: persistent receives posted, 1 to 1024.
  /// shm: the size of the ring of each ordered pair of ranks of a host, a power of two. 0: enough for 4 of
  /// the largest messages. A host needs this size times the square of the number of its ranks.
  std::size_t ring_bytes = 0;
  /// shm: sender and receiver copy alternate chunks of a bulk put directly, if the system allows it for all
  /// ranks of the host (Linux, same user, no policy against it). If the system requires a permission (Yama's
  /// ptrace_scope 1, as on some Debian and Ubuntu systems), the launcher of the ranks and all its processes
  /// may read and write this process's memory from this call to the end of the last such transport. If false,
  /// or if the system forbids direct copies, bulk puts use the other transport.
  bool copy_blocks = true;
  /// The number of seconds for which connect() waits for other ranks; 0: no limit. It may differ between
  /// ranks. The limit for messages is in EndpointOptions.
  double watchdog_s = 0;
};

/// Returns the names for Options::transport that this build supports.
std::vector<std::string> transports();

/// Collective over parent, which is duplicated. All ranks must destroy the transport before MPI_Finalize,
/// after a quiesce(). Throws the same Error on all ranks: `invalid_argument` for an unknown name, a value out
/// of range, a null communicator or an intercommunicator; `not_applicable` if built without UCX (shm is
/// allowed even if no host has two ranks); `mismatch` if options differ; `state` before MPI_Init and after
/// MPI_Finalize; `mpi` for an error of MPI or UCX. If a rank does not call it, each other rank throws for
/// itself: `timeout`, or `mpi` with the dead ranks if MPI reports them.
std::unique_ptr<Transport> connect(MPI_Comm parent, const Options& options = {});

}  // namespace nuice::am::mpi
