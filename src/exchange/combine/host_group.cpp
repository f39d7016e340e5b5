// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/combine/host_group.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mpi/collective.hpp"
#include "mpi/host/cores.hpp"

namespace nuice::mpi {
HostGroup::HostGroup(const Communicator& comm, Hosts hosts, int leaders)
    : hosts_(std::move(hosts)),
      host_(hosts_.host_of(comm.rank())),
      by_host_(static_cast<std::size_t>(comm.num_ranks())),
      begin_(static_cast<std::size_t>(hosts_.num_hosts()) + 1, 0),
      leaders_(leaders > 0 ? leaders : comm.num_ranks()) {
  std::iota(by_host_.begin(), by_host_.end(), Rank{0});
  std::ranges::stable_sort(by_host_, {}, [this](Rank rank) { return hosts_.host_of(rank); });
  for (const Rank rank : by_host_) ++begin_[static_cast<std::size_t>(hosts_.host_of(rank)) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  int is_oversubscribed = outnumber_cores(comm, ranks()) ? 1 : 0;
  all_reduce(comm, MPI_IN_PLACE, &is_oversubscribed, 1, MPI_INT, MPI_MAX);
  is_oversubscribed_ = is_oversubscribed != 0;
}

std::size_t HostGroup::index_of(Rank rank) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(ranks(), rank) - ranks().begin());
}

Rank HostGroup::leader(Rank of, Rank with) const {
  const auto all = ranks_of(of);
  const auto count = std::min(all.size(), static_cast<std::size_t>(leaders_));
  return all[static_cast<std::size_t>(of + with) % count];
}

}  // namespace nuice::mpi
