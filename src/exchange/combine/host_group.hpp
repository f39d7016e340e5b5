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
  /// Collective over comm. leaders: maximum number of leading ranks of a host; 0: all.
  HostGroup(const Communicator& comm, Hosts hosts, int leaders);

  const Hosts& hosts() const { return hosts_; }
  std::span<const Rank> ranks() const { return ranks_of(host_); }
  /// The place of a rank of this host among them.
  std::size_t index_of(Rank rank) const;
  /// The rank of host `of` that exchanges with host `with`: all ranks of a host lead for about as many others, and where hosts are
  /// alike it is the same of each, as network cards may be theirs.
  Rank leader(Rank of, Rank with) const;
  int leaders() const { return leaders_; }
  /// Whether on some host ranks outnumber the cores that they may run on.
  bool is_oversubscribed() const { return is_oversubscribed_; }

 private:
  std::span<const Rank> ranks_of(Rank host) const {
    const auto h = static_cast<std::size_t>(host);
    return std::span(by_host_).subspan(begin_[h], begin_[h + 1] - begin_[h]);
  }

  Hosts hosts_;
  Rank host_;
  std::vector<Rank> by_host_;  // ranks, ascending inside a host
  std::vector<std::size_t> begin_;
  int leaders_ = 0;
  bool is_oversubscribed_ = false;
};

}  // namespace nuice::mpi
