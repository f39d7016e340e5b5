// SPDX-License-Identifier: BSD-3-Clause
// Networks that schedulers are tried on, and a second judge of link contention.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nuice/core/networks.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::test {

/// The smallest hypercube with so many ranks, the same object every time.
inline const Topology& hypercube_for(Rank num_ranks) {
  static const std::vector<std::unique_ptr<const Topology>> cubes = [] {
    std::vector<std::unique_ptr<const Topology>> all;
    for (int d = 0; d <= 10; ++d) all.push_back(make_topology("hypercube:" + std::to_string(d)));
    return all;
  }();
  std::size_t d = 0;
  while (cubes.at(d)->num_ranks() < num_ranks) ++d;
  return *cubes[d];
}

/// Most transfers of one phase over a link, less what it may carry, over all phases and links; above 0: contention.
/// Counts in a way that shares nothing with nuice::check().
inline double worst_excess(const Schedule& schedule, const Topology& topology) {
  double worst = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    std::map<LinkId, double> load;
    for (const Transfer& transfer : schedule.transfers(phase)) {
      std::vector<LinkId> route;
      topology.append_route(transfer.src, transfer.dst, route);
      for (const LinkId link : route) {
        const double capacity = topology.link(link).capacity;
        load[link] += 1;
        const double carries = capacity < 1 ? 1 : static_cast<double>(static_cast<long long>(capacity));
        worst = std::max(worst, load[link] - carries);
      }
    }
  }
  return worst;
}

}  // namespace nuice::test
