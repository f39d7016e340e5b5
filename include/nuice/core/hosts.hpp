// SPDX-License-Identifier: BSD-3-Clause
// Says which ranks run on the same host and therefore share a port of the network.
//
//   const Hosts hosts = parse_hosts("4", 32);   // ranks 0..3 on host 0, 4..7 on host 1, ...
//   const CommMatrix between = host_matrix(matrix, hosts);
//
// Plans use this class for the option nuice::mpi::PlanOptions::hosts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/comm_matrix.hpp"

namespace nuice {

class Hosts {
 public:
  /// Makes the hosts. Ranks a and b share a host if host_of[a] == host_of[b]; any numbers are allowed,
  /// because hosts are renumbered in the order of their lowest ranks. O(ranks log hosts).
  explicit Hosts(std::vector<Rank> host_of);

  Rank num_ranks() const { return static_cast<Rank>(host_of_.size()); }
  Rank num_hosts() const { return num_hosts_; }
  Rank host_of(Rank rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  bool same(Rank a, Rank b) const { return host_of(a) == host_of(b); }
  /// Returns the ranks on the host of `rank`, including `rank`, in ascending order. O(ranks).
  std::vector<Rank> ranks_beside(Rank rank) const;
  /// Returns whether a host has several ranks.
  bool any_shared() const { return num_hosts() < num_ranks(); }

 private:
  std::vector<Rank> host_of_;
  Rank num_hosts_ = 0;
};

/// Parses "4" (four consecutive ranks on each host) or "0,0,1,1" (the host of every rank). Throws Error with
/// code `invalid_argument` for any other text, or for a wrong number of ranks.
Hosts parse_hosts(std::string_view text, Rank num_ranks);

/// Returns the matrix of bytes between hosts; messages inside a host are left out. O(m log m) for m messages.
/// Requires hosts.num_ranks() == matrix.num_ranks().
CommMatrix host_matrix(const CommMatrix& matrix, const Hosts& hosts);

}  // namespace nuice
