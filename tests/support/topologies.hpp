// SPDX-License-Identifier: BSD-3-Clause
// Networks that schedulers are tried on, and a second judge of link contention.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nuice/core/networks.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::test {

/// Of all rows, those that tests add too.
inline std::vector<std::string_view> scheduler_names() {
  std::vector<std::string_view> names;
  for (const Scheduler& scheduler : schedulers()) names.push_back(scheduler.name);
  return names;
}

/// The smallest of its kind with that many ranks, the same object every time:
/// hypercubes, or trees of switches of two.
inline const Topology& network_of(bool tree, Rank num_ranks) {
  using All = std::vector<std::unique_ptr<const Topology>>;
  static const std::pair<All, All> networks = [] {
    std::pair<All, All> all;
    std::string twos = "fattree:1";
    for (int d = 0; d <= 10; ++d) {
      all.first.push_back(make_topology("hypercube:" + std::to_string(d)));
      if (d > 0) twos = d == 1 ? "fattree:2" : twos + "x2";
      all.second.push_back(make_topology(twos));
    }
    return all;
  }();
  const All& kind = tree ? networks.second : networks.first;
  std::size_t d = 0;
  while (kind.at(d)->num_ranks() < num_ranks) ++d;
  return *kind[d];
}

/// A tree for the row that chooses paths, else a hypercube; null where it needs none.
inline const Topology* network_for(const Scheduler& scheduler, Rank num_ranks) {
  if (!scheduler.needs_topology()) return nullptr;
  return &network_of(scheduler.name == "path_coloring", num_ranks);
}

/// Most transfers of one phase over a link, less what it may carry, over all phases and links; above 0:
/// contention. Counts in a way that shares nothing with nuice::check().
inline double worst_excess(const Schedule& schedule, const Topology& topology) {
  double worst = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    std::map<LinkId, double> load;
    for (const Transfer& transfer : schedule.transfers(phase)) {
      std::vector<LinkId> route;
      topology.append_way(transfer.src, transfer.dst, transfer.path, route);
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
