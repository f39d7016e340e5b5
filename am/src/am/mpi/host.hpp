// SPDX-License-Identifier: BSD-3-Clause
// The ranks that share this rank's host, the number of their cores, and whether they are alive.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "am/mpi/call.hpp"
#include "am/mpi/processes.hpp"

namespace nuice::am::mpi {

struct Host {
  /// Collective over parent.
  explicit Host(const Communicator& parent);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  MPI_Comm comm = MPI_COMM_NULL;       // the ranks of this host
  MPI_Comm leaders = MPI_COMM_NULL;    // the first rank of each host; null on other ranks
  std::vector<std::uint32_t> host_of;  // by rank in the parent: its host's place in `leaders`
  std::size_t num_hosts = 0;
  std::vector<Rank> ranks;           // the ranks of this host in the parent, by rank in comm
  Rank me = 0;                       // this rank in comm
  bool oversubscribed = false;       // more ranks than cores on which they may run
  bool largest_has_several = false;  // whether any host has two ranks or more; equal on all ranks
  std::shared_ptr<Neighbours> neighbours;
};

}  // namespace nuice::am::mpi
