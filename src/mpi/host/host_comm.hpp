// SPDX-License-Identifier: BSD-3-Clause
// Communicators of the ranks of one host.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/call.hpp"
#include "mpi/collective.hpp"

namespace nuice::mpi {

/// Collective. A communicator of the ranks that give the same color, by rank; or of those that can share memory.
class HostComm {
 public:
  explicit HostComm(const Communicator& parent) {
    must(MPI_Comm_split_type(parent.get(), MPI_COMM_TYPE_SHARED, parent.rank(), MPI_INFO_NULL, &comm_),
         "MPI_Comm_split_type");
  }
  HostComm(const Communicator& parent, Rank color) {
    must(MPI_Comm_split(parent.get(), color, parent.rank(), &comm_), "MPI_Comm_split");
  }
  HostComm(const HostComm&) = delete;
  HostComm& operator=(const HostComm&) = delete;
  ~HostComm() { MPI_Comm_free(&comm_); }
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Collective, but for the first call on comm only: MPI is asked once. The ranks with which this one can share memory, itself among
/// them, ascending.
inline const std::vector<Rank>& ranks_of_this_host(const Communicator& comm) {
  std::vector<Rank>& ranks = comm.ranks_of_host();
  if (!ranks.empty()) return ranks;
  const HostComm host(comm);
  int size = 0;
  must(MPI_Comm_size(host.get(), &size), "MPI_Comm_size");
  const Rank rank = comm.rank();
  std::vector<Rank> found(static_cast<std::size_t>(size));
  must(MPI_Allgather(&rank, 1, MPI_INT32_T, found.data(), 1, MPI_INT32_T, host.get()), "MPI_Allgather");
  ranks = std::move(found);
  return ranks;
}

/// Collective. By rank, the lowest rank with which it can share memory.
inline std::vector<Rank> ranks_that_share_memory(const Communicator& comm) {
  const Rank lowest = ranks_of_this_host(comm).front();
  std::vector<Rank> host_of(static_cast<std::size_t>(comm.num_ranks()));
  all_gather(comm, &lowest, 1, MPI_INT32_T, host_of.data());
  return host_of;
}

}  // namespace nuice::mpi
