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

/// Must be equal on all ranks, but for watchdog_s.
struct Options {
  /// "mpi"      MPI point to point: the portable choice, everywhere
  /// "ucx"      UCX active messages, addresses exchanged over MPI; where NUICE was built with UCX
  /// "shm"      rings in shared memory between ranks of one host, "mpi" to other hosts
  /// "shm+ucx"  the same with "ucx" to other hosts
  /// "best"     "shm" where some ranks share a host, else "mpi"
  std::string transport = "best";
  std::size_t max_message_bytes = 32768;  ///< What one message can carry; at least 256, at most 1 MiB.
  /// mpi: maximum number of messages in flight from a rank to another, so at most num_ranks times as many are unexpected
  /// at a receiver. 2 to 250.
  int credits = 240;
  int receives = 16;  ///< mpi: persistent receives posted, 1 to 1024.
  /// shm: for each ordered pair of ranks of a host, a power of two; 0: enough for 4 of the largest messages. Memory of
  /// a host: this times the square of its ranks.
  std::size_t ring_bytes = 0;
  /// shm: bulk puts are copied straight from memory to memory by both ranks in turn, where the system allows that between
  /// all ranks of the host (Linux, same user, no forbidding policy). Where the system asks for leave (Yama's ptrace_scope 1, as
  /// Debian and Ubuntu may have it), what started the ranks, and with it all that it has started, may read and write this
  /// process's memory from here to the end of the last such transport. false: never; blocks use the other transport, as they
  /// do where the system does not allow it.
  bool copy_blocks = true;
  /// seconds that connect() waits for ranks that do not come; 0: no limit. It may differ. (EndpointOptions has that of messages.)
  double watchdog_s = 0;
};

/// Names for Options::transport that this build can make.
std::vector<std::string> transports();

/// Collective over parent, which is duplicated. To be destroyed by all ranks before MPI_Finalize, after a quiesce().
/// Throws Error, the same on all ranks: invalid_argument (unknown name, value out of range, null communicator or
/// intercommunicator), not_applicable (built without UCX; shm where no host has two ranks is fine), mismatch (options
/// differ), state (MPI not initialized or finalized), mpi (MPI's or UCX's own error). On each rank for itself:
/// timeout, or mpi with the names of the dead where MPI tells of them, when some rank does not come.
std::unique_ptr<Transport> connect(MPI_Comm parent, const Options& options = {});

}  // namespace nuice::am::mpi
