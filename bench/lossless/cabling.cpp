// SPDX-License-Identifier: BSD-3-Clause
#include "lossless/cabling.hpp"

#include <algorithm>
#include <utility>

#include "nuice/core/error.hpp"

namespace nuice::lossless {
namespace {

constexpr std::size_t most_ways = std::size_t{1} << 24;

/// Returns the switch to which a host is connected. Its routes begin there. Returns `lonely` if it has no
/// switch.
std::int32_t home_of(const Topology& topology, Rank host, Rank hosts, std::int32_t lonely) {
  std::vector<LinkId> route;
  for (Rank other = 0; other < hosts && route.empty(); ++other) topology.append_route(host, other, route);
  return route.empty() ? lonely : topology.link(route.front()).from;
}

}  // namespace

Cabling::Cabling(const Topology& topology, Rank hosts)
    : num_hosts_(hosts), num_links_(static_cast<std::uint32_t>(topology.num_links())) {
  std::int32_t last = topology.num_ranks() - 1;
  for (LinkId id = 0; id < topology.num_links(); ++id) {
    const Link link = topology.link(id);
    wires_.push_back({link.from, link.to, link.capacity});
    last = std::max({last, link.from, link.to});
  }
  num_switches_ = static_cast<std::uint32_t>(last) + 2;  // one more, for topologies without links
  for (const bool in : {true, false})
    for (Rank host = 0; host < hosts; ++host) {
      const std::int32_t home = home_of(topology, host, hosts, last + 1);
      wires_.push_back({in ? outside : home, in ? home : outside, 1});
    }
  for (Rank src = 0; src < hosts; ++src)
    for (Rank dst = 0; dst < hosts; ++dst) add_ways(topology, src, dst);
  ways_of_pair_.push_back(static_cast<std::uint32_t>(first_hop_.size()));
  first_hop_.push_back(hops_.size());
  assign_lanes();
}

void Cabling::add_ways(const Topology& topology, Rank src, Rank dst) {
  ways_of_pair_.push_back(static_cast<std::uint32_t>(first_hop_.size()));
  const std::int64_t paths = src == dst ? 0 : topology.num_paths(src, dst);
  std::vector<LinkId> route;
  for (std::int64_t path = no_path; path < paths; ++path) {
    route.clear();
    topology.append_way(src, dst, path, route);
    first_hop_.push_back(hops_.size());
    if (first_hop_.size() > most_ways) throw Error(ErrorCode::limit, "more than 2^24 ways between hosts");
    hops_.push_back({port_of(src), 0});
    for (const LinkId link : route) hops_.push_back({static_cast<std::uint32_t>(link), 0});
    hops_.push_back({port_of(dst) + static_cast<std::uint32_t>(num_hosts_), 0});
  }
}

std::uint32_t Cabling::num_paths(Rank src, Rank dst) const {
  return ways_of_pair_[pair(src, dst) + 1] - ways_of_pair_[pair(src, dst)] - 1;
}

std::span<const Hop> Cabling::way(Rank src, Rank dst, std::int64_t path) const {
  const auto way = static_cast<std::size_t>(ways_of_pair_[pair(src, dst)] + path + 1);
  return std::span(hops_).subspan(first_hop_[way], first_hop_[way + 1] - first_hop_[way]);
}

/// Returns the position of each wire in an order in which routes step forwards. Without cycles all steps are
/// forwards.
std::vector<std::uint32_t> Cabling::order_of_wires() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;
  for (std::size_t way = 0; way + 1 < first_hop_.size(); ++way)
    for (std::size_t i = first_hop_[way] + 1; i < first_hop_[way + 1]; ++i)
      steps.emplace_back(hops_[i - 1].wire, hops_[i].wire);
  std::ranges::sort(steps);
  steps.erase(std::ranges::unique(steps).begin(), steps.end());
  std::vector<std::uint32_t> waits_for(wires_.size(), 0);
  for (const auto& step : steps) ++waits_for[step.second];
  std::vector<std::uint32_t> place(wires_.size(), 0);
  std::vector<bool> is_placed(wires_.size(), false);
  std::vector<std::uint32_t> open;
  std::uint32_t next = 0;
  for (std::uint32_t lowest = 0; next < wires_.size();) {
    if (open.empty()) {  // wires without a predecessor; on a cycle the lowest wire
      const auto free = std::ranges::find_if(
          steps, [&](const auto& s) { return !is_placed[s.first] && waits_for[s.first] == 0; });
      while (lowest < wires_.size() && is_placed[lowest]) ++lowest;
      open.push_back(free != steps.end() ? free->first : lowest);
    }
    const std::uint32_t wire = open.back();
    open.pop_back();
    if (is_placed[wire]) continue;
    is_placed[wire] = true;
    place[wire] = next++;
    for (auto step = std::ranges::lower_bound(steps, std::pair(wire, std::uint32_t{0}));
         step != steps.end() && step->first == wire; ++step)
      if (--waits_for[step->second] == 0) open.push_back(step->second);
  }
  return place;
}

void Cabling::assign_lanes() {
  const std::vector<std::uint32_t> place = order_of_wires();
  for (std::size_t way = 0; way + 1 < first_hop_.size(); ++way) {
    std::uint32_t lane = 0;
    for (std::size_t i = first_hop_[way] + 1; i < first_hop_[way + 1]; ++i) {
      if (place[hops_[i].wire] < place[hops_[i - 1].wire]) ++lane;
      hops_[i].lane = lane;
      num_lanes_ = std::max(num_lanes_, lane + 1);
    }
  }
}

}  // namespace nuice::lossless
