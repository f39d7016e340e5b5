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

/// Must be equal on all ranks, except watchdog_s.
struct Options {
  /// "mpi"      MPI point to point: the portable choice, everywhere
  /// "ucx"      UCX active messages, addresses exchanged over MPI; where NUICE was built with UCX
  /// "shm"      rings in shared memory between ranks of one host, "mpi" to other hosts
  /// "shm+ucx"  the same with "ucx" to other hosts
  /// "best"     "shm" where some ranks share a host, else "mpi"
  std::string transport = "best";
  std::size_t max_message_bytes = 32768;  ///< The capacity of one message; at least 256, at most 1 MiB.
  /// mpi: maximum number of messages in flight from one rank to another, 2 to 250. A receiver then has at
  /// most num_ranks times as many unexpected messages.
  int credits = 240;
  int receives = 16;  ///< mpi: persistent receives posted, 1 to 1024.
  /// shm: size of the ring of each ordered pair of ranks of a host, a power of two; 0: enough for 4 of the
  /// largest messages. A host needs this times the square of its ranks.
  std::size_t ring_bytes = 0;
  /// shm: both ranks copy bulk puts directly between their memories, alternately, if the system allows this
  /// between all ranks of the host (Linux, same user, no policy against it). If the system requires a
  /// permission (Yama's ptrace_scope 1, as on some Debian and Ubuntu systems), the launcher of the ranks and
  /// all its processes may read and write this process's memory from here to the end of the last such
  /// transport. false: never; blocks then use the other transport, as they do if the system forbids it.
  bool copy_blocks = true;
  /// Seconds that connect() waits for other ranks; 0: no limit. It may differ between ranks. EndpointOptions
  /// has the limit for messages.
  double watchdog_s = 0;
};

/// The names for Options::transport that this build supports.
std::vector<std::string> transports();

/// Collective over parent, which is duplicated. To be destroyed by all ranks before MPI_Finalize, after a quiesce().
/// Throws Error, the same on all ranks: invalid_argument (unknown name, value out of range, null communicator or
/// intercommunicator), not_applicable (built without UCX; shm where no host has two ranks is fine), mismatch (options
/// differ), state (MPI not initialized or finalized), mpi (MPI's or UCX's own error). If a rank does not call
/// it, each other rank throws for itself: timeout, or mpi with the dead ranks if MPI reports them.
std::unique_ptr<Transport> connect(MPI_Comm parent, const Options& options = {});

}  // namespace nuice::am::mpi
