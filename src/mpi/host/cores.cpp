// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/cores.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#include <thread>

#include "mpi/host/host_ranks.hpp"

namespace nuice::mpi {
namespace {

int cores_of(const Communicator& comm, std::span<const Rank> ranks) {
#ifdef __linux__
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
  for (const cpu_set_t& of_rank : values_on_host(comm, ranks, cores)) CPU_OR(&cores, &cores, &of_rank);
  if (const int count = CPU_COUNT(&cores); count > 0) return count;
#endif
  (void)comm, (void)ranks;
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

bool outnumber_cores(const Communicator& comm, std::span<const Rank> ranks) {
  return std::ssize(ranks) > cores_of(comm, ranks);
}

}  // namespace nuice::mpi
