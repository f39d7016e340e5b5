// SPDX-License-Identifier: BSD-3-Clause
#include "machine/packets/routes.hpp"

#include <algorithm>
#include <utility>

#include "nuice/core/error.hpp"

namespace nuice::machine {
namespace {

constexpr std::size_t most_hops = std::size_t{1} << 31;

}  // namespace

Routes::Routes(const Topology& topology, Rank num_ranks, std::span<const Way> ways)
    : num_links_(static_cast<WireId>(topology.num_links())), num_vertices_(topology.num_ranks()) {
  for (LinkId id = 0; id < topology.num_links(); ++id) {
    const Link link = topology.link(id);
    wires_.push_back({link.from, link.to, link.capacity});
    num_vertices_ = std::max({num_vertices_, link.from + 1, link.to + 1});
  }
  ++num_vertices_;  // a switch for networks without switches
  std::vector<std::int32_t> homes;
  for (Rank rank = 0; rank < num_ranks; ++rank) homes.push_back(home_of(topology, rank, num_ranks));
  for (const std::int32_t home : homes) wires_.push_back({no_rank, home, 1});
  for (const std::int32_t home : homes) wires_.push_back({home, no_rank, 1});
  std::vector<LinkId> route;
  first_.push_back(0);
  for (const Way& way : ways) {
    route.clear();
    topology.append_way(way.src, way.dst, way.path, route);
    hops_.push_back({port_of(way.src), 0});
    for (const LinkId link : route) hops_.push_back({static_cast<WireId>(link), 0});
    hops_.push_back({port_of(way.dst) + static_cast<WireId>(num_ranks), 0});
    if (hops_.size() > most_hops) throw Error(ErrorCode::limit, "more than 2^31 hops of routes");
    first_.push_back(static_cast<std::uint32_t>(hops_.size()));
  }
  assign_lanes();
}

/// Returns the vertex at which a rank's routes begin. Several other ranks are tried, because a route between
/// ranks of one switch has no links.
std::int32_t Routes::home_of(const Topology& topology, Rank rank, Rank num_ranks) const {
  std::vector<LinkId> route;
  const auto begins = [&](Rank other) {
    topology.append_route(rank, other, route);
    return !route.empty();
  };
  const Rank last = num_ranks - 1;
  if (begins(0) || begins(last) || begins(last / 2)) return topology.link(route.front()).from;
  if (topology.num_links() > 0)
    for (Rank other = 0; other <= last; ++other)
      if (begins(other)) return topology.link(route.front()).from;
  return num_vertices_ - 1;
}

/// Returns the wires in an order in which routes mostly lead forwards. Repeatedly takes a wire to which no
/// route leads from any remaining wire. If there is no such wire (all are on cycles), takes the lowest wire.
std::vector<std::uint32_t> Routes::order_of_wires() const {
  std::vector<std::pair<WireId, WireId>> steps;
  for (std::size_t way = 0; way + 1 < first_.size(); ++way)
    for (std::uint32_t i = first_[way] + 1; i < first_[way + 1]; ++i)
      steps.emplace_back(hops_[i - 1].wire, hops_[i].wire);
  std::ranges::sort(steps);
  steps.erase(std::ranges::unique(steps).begin(), steps.end());
  std::vector<std::uint32_t> waits_for(wires_.size(), 0);
  for (const auto& [from, to] : steps) ++waits_for[to];
  constexpr std::uint32_t none = ~0U;
  std::vector<std::uint32_t> order(wires_.size(), none);
  std::uint32_t next = 0;
  std::vector<WireId> open;
  const auto take = [&](WireId wire) {
    order[wire] = next++;
    open.push_back(wire);
  };
  for (WireId wire = 0; wire < wires_.size(); ++wire)
    if (waits_for[wire] == 0) take(wire);
  for (WireId lowest = 0; next < wires_.size() || !open.empty();) {
    if (open.empty()) {
      while (order[lowest] != none) ++lowest;
      take(lowest);
    }
    const WireId wire = open.back();
    open.pop_back();
    const auto from = std::ranges::lower_bound(steps, std::pair(wire, WireId{0}));
    for (auto step = from; step != steps.end() && step->first == wire; ++step)
      if (--waits_for[step->second] == 0 && order[step->second] == none) take(step->second);
  }
  return order;
}

void Routes::assign_lanes() {
  const std::vector<std::uint32_t> order = order_of_wires();
  for (std::size_t way = 0; way + 1 < first_.size(); ++way) {
    std::uint32_t lane = 0;
    for (std::uint32_t i = first_[way] + 1; i < first_[way + 1]; ++i) {
      if (order[hops_[i].wire] < order[hops_[i - 1].wire]) ++lane;
      hops_[i].lane = lane;
      virtual_lanes_ = std::max(virtual_lanes_, static_cast<int>(lane) + 1);
    }
  }
}

}  // namespace nuice::machine
