// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/host.hpp"

#include <sched.h>

#include <algorithm>

namespace nuice::am::mpi {

Host::Host(const Communicator& parent) {
  must(MPI_Comm_split_type(parent.get(), MPI_COMM_TYPE_SHARED, parent.rank(), MPI_INFO_NULL, &comm),
       "MPI_Comm_split_type");
  int size = 0;
  must(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  must(MPI_Comm_rank(comm, &me), "MPI_Comm_rank");
  ranks.resize(static_cast<std::size_t>(size));
  const Rank mine = parent.rank();
  must(MPI_Allgather(&mine, 1, MPI_INT32_T, ranks.data(), 1, MPI_INT32_T, comm), "MPI_Allgather");

  std::vector<Rank> first_of(static_cast<std::size_t>(parent.num_ranks()));
  must(MPI_Allgather(ranks.data(), 1, MPI_INT32_T, first_of.data(), 1, MPI_INT32_T, parent.get()),
       "MPI_Allgather");
  std::vector<Rank> firsts = first_of;
  std::ranges::sort(firsts);
  firsts.erase(std::ranges::unique(firsts).begin(), firsts.end());
  num_hosts = firsts.size();
  for (const Rank first : first_of)
    host_of.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(firsts, first) - firsts.begin()));
  must(MPI_Comm_split(parent.get(), me == 0 ? 0 : MPI_UNDEFINED, parent.rank(), &leaders), "MPI_Comm_split");

  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
  must(MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, comm), "MPI_Allreduce");
  oversubscribed = size > CPU_COUNT(&cores);

  const Process me_myself = this_process();
  std::vector<Process> processes(ranks.size());
  must(
      MPI_Allgather(&me_myself, sizeof(Process), MPI_BYTE, processes.data(), sizeof(Process), MPI_BYTE, comm),
      "MPI_Allgather");
  neighbours = std::make_shared<Neighbours>(ranks, processes);

  int largest = size;
  must(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT, MPI_MAX, parent.get()), "MPI_Allreduce");
  largest_has_several = largest > 1;
}

Host::~Host() {
  if (is_finalized()) return;
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  if (leaders != MPI_COMM_NULL) MPI_Comm_free(&leaders);
}

}  // namespace nuice::am::mpi
