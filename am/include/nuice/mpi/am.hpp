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

/// The options of connect(); they must be equal on all ranks, except watchdog_s.
struct Options {
  /// The name of the transport.
  /// "mpi" uses MPI point to point, and is the portable choice.
  /// "ucx" uses UCX active messages, with addresses exchanged over MPI, if NUICE was built with UCX.
  /// "shm" uses rings in shared memory between ranks of one host, and "mpi" to other hosts.
  /// "shm+ucx" uses rings in shared memory between ranks of one host, and "ucx" to other hosts.
  /// "best" is "shm" if some ranks share a host, else "mpi".
  std::string transport = "best";
  std::size_t max_message_bytes = 32768;  ///< The capacity of one message; at least 256, at most 1 MiB.
  /// For the transport mpi: the maximum number of messages in flight from one rank to another, 2 to 250. A
  /// receiver then has at most num_ranks * credits unexpected messages.
  int credits = 240;
  /// For the transport mpi: the number of persistent receives that are posted, 1 to 1024.
  int receives = 16;
  /// For the transport shm: the size of the ring of each ordered pair of ranks of a host, a power of two. 0:
  /// the size is enough for 4 messages of the largest size. A host needs this memory times the square of its
  /// number of ranks.
  std::size_t ring_bytes = 0;
  /// For the transport shm: whether sender and receiver each copy every second chunk of bulk data (put())
  /// directly from memory to memory. The system must allow this for all ranks of the host (Linux, same user,
  /// no policy against it). If the system requires a permission (Yama's ptrace_scope 1, as on some Debian and
  /// Ubuntu systems), the launcher of the ranks and all its processes may read and write this process's
  /// memory, from the call of connect() until the last such transport is destroyed. If false, blocks use the
  /// other transport, as they do if the system forbids direct copies.
  bool copy_blocks = true;
  /// The number of seconds for which connect() waits for other ranks; 0: no limit. This limit may differ
  /// between ranks. EndpointOptions has the limit for messages.
  double watchdog_s = 0;
};

/// Returns the names for Options::transport that this build supports.
std::vector<std::string> transports();

/// Collective over `parent`. Makes a transport on a duplicate of `parent`. All ranks must destroy the
/// transport after a quiesce() and before MPI_Finalize. Throws Error, the same on all ranks. Codes:
/// `invalid_argument` for an unknown name, a value out of range, a null communicator or an intercommunicator;
/// `not_applicable` for ucx in a build without UCX (shm is allowed even if no host has two ranks); `mismatch`
/// if options differ between ranks; `state` if MPI is not initialized or is finalized; `mpi` for an error of
/// MPI or UCX. If a rank does not call connect(), each other rank throws an error of its own: `timeout`, or
/// `mpi` with the dead ranks if MPI reports them.
std::unique_ptr<Transport> connect(MPI_Comm parent, const Options& options = {});

}  // namespace nuice::am::mpi
