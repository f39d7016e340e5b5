// SPDX-License-Identifier: BSD-3-Clause
// The ranks that share this rank's host, how many cores they have together, and whether they still live.
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

  MPI_Comm comm = MPI_COMM_NULL;     // the ranks of this host
  MPI_Comm leaders = MPI_COMM_NULL;  // the first rank of each host; null elsewhere
  std::vector<std::uint32_t>
      host_of;  // by rank in the parent: position of its host's first rank among the leaders
  std::size_t num_hosts = 0;
  std::vector<Rank> ranks;           // their ranks in the parent, by rank in comm
  Rank me = 0;                       // this rank in comm
  bool oversubscribed = false;       // more ranks than cores that they may run on
  bool largest_has_several = false;  // some host has two ranks or more; equal on all ranks
  std::shared_ptr<Neighbours> neighbours;
};

}  // namespace nuice::am::mpi
