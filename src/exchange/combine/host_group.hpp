// SPDX-License-Identifier: BSD-3-Clause
// The ranks of this rank's host, and which rank of each host exchanges with which other host.
#pragma once

#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/core/hosts.hpp"

namespace nuice::mpi {

class HostGroup {
 public:
  /// Collective over comm. leaders: the maximum number of leaders per host; 0: all ranks are leaders.
  HostGroup(const Communicator& comm, Hosts hosts, int leaders);

  const Hosts& hosts() const { return hosts_; }
  std::span<const Rank> ranks() const { return ranks_of(host_); }
  /// The index of a rank of this host in ranks().
  std::size_t index_of(Rank rank) const;
  /// The rank of host `of` that exchanges with host `with`. All ranks of a host exchange with about equally
  /// many other hosts. If both hosts have equally many ranks, their two leaders have the same index, because
  /// each rank may have a network card of its own.
  Rank leader(Rank of, Rank with) const;
  int leaders() const { return leaders_; }
  /// Whether the ranks of any host outnumber the cores that they may use.
  bool is_oversubscribed() const { return is_oversubscribed_; }

 private:
  std::span<const Rank> ranks_of(Rank host) const {
    const auto h = static_cast<std::size_t>(host);
    return std::span(by_host_).subspan(begin_[h], begin_[h + 1] - begin_[h]);
  }

  Hosts hosts_;
  Rank host_;
  std::vector<Rank> by_host_;  // all ranks by host, ascending inside a host
  std::vector<std::size_t> begin_;
  int leaders_ = 0;
  bool is_oversubscribed_ = false;
};

}  // namespace nuice::mpi
