// SPDX-License-Identifier: BSD-3-Clause
// Laws of all networks (routes are ways of existing links, shortest where promised), and those of each kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "nuice/core/networks.hpp"
#include "nuice/core/random.hpp"
#include "support/routes.hpp"

namespace nuice {
namespace {

using test::Route;
using test::route_of;
using test::stops_of;

/// All pairs of small networks, some of large ones.
template <typename Body>
void for_pairs(const Topology& net, Body body) {
  const Rank n = net.num_ranks();
  if (n <= 96) {
    for (Rank src = 0; src < n; ++src) {
      for (Rank dst = 0; dst < n; ++dst) body(src, dst);
    }
    return;
  }
  Random random(5);
  for (int i = 0; i < 3000; ++i) {
    body(static_cast<Rank>(random.below(static_cast<std::uint64_t>(n))),
         static_cast<Rank>(random.below(static_cast<std::uint64_t>(n))));
  }
}

class EveryNetwork : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<const Topology> net = make_topology(GetParam());
};

TEST_P(EveryNetwork, LinksJoinTwoVertices) {
  EXPECT_EQ(net->name(), GetParam());
  std::set<std::pair<std::int32_t, std::int32_t>> ends;
  for (LinkId id = 0; id < net->num_links(); ++id) {
    const Link link = net->link(id);
    ASSERT_GE(link.from, 0);
    ASSERT_GE(link.to, 0);
    ASSERT_NE(link.from, link.to);
    ASSERT_GT(link.capacity, 0);
    ASSERT_TRUE(ends.insert({link.from, link.to}).second)
        << "two links from " << link.from << " to " << link.to;
  }
  for (const auto& [from, to] : ends) ASSERT_TRUE(ends.contains({to, from})) << "cables carry both ways";
}

TEST_P(EveryNetwork, RoutesAreWays) {
  std::map<Rank, std::int32_t> leaves;  // where each rank hangs
  const auto expect_same_leaf = [&leaves](Rank rank, std::int32_t vertex) {
    ASSERT_EQ(leaves.try_emplace(rank, vertex).first->second, vertex) << "rank " << rank;
  };
  for_pairs(*net, [&](Rank src, Rank dst) {
    const Route route = route_of(*net, src, dst);
    if (src == dst) {
      ASSERT_TRUE(route.empty());
      return;
    }
    for (std::size_t i = 0; i < route.size(); ++i) {
      ASSERT_GE(route[i], 0);
      ASSERT_LT(route[i], net->num_links());
      if (i > 0) {
        ASSERT_EQ(net->link(route[i - 1]).to, net->link(route[i]).from) << src << " -> " << dst;
      }
    }
    const auto stops = stops_of(*net, route);
    ASSERT_EQ(std::set(stops.begin(), stops.end()).size(), stops.size())
        << src << " -> " << dst << ": a vertex twice";
    if (!route.empty()) {
      expect_same_leaf(src, stops.front());
      expect_same_leaf(dst, stops.back());
    }
  });
}

TEST_P(EveryNetwork, AppendsAndIsPure) {
  const Rank last = net->num_ranks() - 1;
  Route route{7, 8};
  net->append_route(0, last, route);
  const Route alone = route_of(*net, 0, last);
  ASSERT_EQ(route.size(), alone.size() + 2);
  EXPECT_EQ(Route(route.begin() + 2, route.end()), alone);
  EXPECT_EQ(route[1], 8);
  EXPECT_EQ(route_of(*make_topology(GetParam()), 0, last), alone);
}

/// Links on the shortest ways from `from` to every vertex.
std::map<std::int32_t, std::size_t> distances_from(const Topology& net, std::int32_t from) {
  std::map<std::int32_t, std::vector<std::int32_t>> neighbours;
  for (LinkId id = 0; id < net.num_links(); ++id) neighbours[net.link(id).from].push_back(net.link(id).to);
  std::map<std::int32_t, std::size_t> distance{{from, 0}};
  std::queue<std::int32_t> open({from});
  for (; !open.empty(); open.pop()) {
    for (const std::int32_t next : neighbours[open.front()]) {
      if (distance.try_emplace(next, distance[open.front()] + 1).second) open.push(next);
    }
  }
  return distance;
}

TEST_P(EveryNetwork, RoutesAreShortest) {
  if (net->num_ranks() > 300 || net->name().starts_with("dragonfly")) return;  // that promises something else
  for (Rank src = 0; src < net->num_ranks(); src += 1 + net->num_ranks() / 20) {
    std::map<std::int32_t, std::size_t> distance;
    for (Rank dst = 0; dst < net->num_ranks(); ++dst) {
      const auto stops = stops_of(*net, route_of(*net, src, dst));
      if (stops.empty()) continue;
      if (distance.empty()) distance = distances_from(*net, stops.front());
      ASSERT_EQ(stops.size() - 1, distance[stops.back()]) << src << " -> " << dst;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, EveryNetwork,
                         testing::Values("crossbar:1", "crossbar:9", "hypercube:0", "hypercube:1",
                                         "hypercube:5", "hypercube:10", "mesh:7", "mesh:4x3", "mesh:1x5x1x2",
                                         "mesh:3x4x5", "torus:2", "torus:8x8", "torus:5x3x2", "torus:4x1x4x3",
                                         "fattree:6", "fattree:4x3", "fattree:4x4x4", "fattree:8x4/2",
                                         "fattree:4x6x5x2/2x3", "fattree:16x64/4", "tree:4x4",
                                         "tree:3x4x2/2x6", "cm5:1", "cm5:4", "cm5:5", "cm5:32", "cm5:64",
                                         "cm5:100", "cm5:1024"));

// --- Hypercube, mesh, torus --------------------------------------------------------------------------------

TEST(Hypercube, MendsTheLowestBitFirst) {
  const auto net = make_topology("hypercube:4");
  EXPECT_EQ(net->num_ranks(), 16);
  EXPECT_EQ(net->num_links(), 64);
  EXPECT_EQ(stops_of(*net, route_of(*net, 0b0011, 0b1110)),
            (std::vector<std::int32_t>{0b0011, 0b0010, 0b0110, 0b1110}));
}

/// Along which dimension each link of a route leads: the first one in which its ends differ.
std::vector<std::size_t> dimensions_of(const Topology& net, const Route& route,
                                       const std::vector<Rank>& lengths) {
  std::vector<std::size_t> dimensions;
  for (const LinkId id : route) {
    Rank a = net.link(id).from;
    Rank b = net.link(id).to;
    std::size_t d = 0;
    for (; a % lengths[d] == b % lengths[d]; ++d) {
      a /= lengths[d];
      b /= lengths[d];
    }
    dimensions.push_back(d);
  }
  return dimensions;
}

TEST(Grids, GoThroughTheDimensionsInOrder) {
  const std::vector<std::pair<std::string, std::vector<Rank>>> cases = {{"mesh:3x4x5", {3, 4, 5}},
                                                                        {"torus:5x3x4", {5, 3, 4}},
                                                                        {"torus:2x7", {2, 7}},
                                                                        {"hypercube:5", {2, 2, 2, 2, 2}}};
  for (const auto& [spec, lengths] : cases) {
    const auto net = make_topology(spec);
    for_pairs(*net, [&](Rank src, Rank dst) {
      const auto dimensions = dimensions_of(*net, route_of(*net, src, dst), lengths);
      ASSERT_TRUE(std::ranges::is_sorted(dimensions)) << spec << ": " << src << " -> " << dst;
    });
  }
}

TEST(Mesh, FirstDimensionFirst) {
  const auto net = make_topology("mesh:4x4x2");
  EXPECT_EQ(net->num_ranks(), 32);
  EXPECT_EQ(net->num_links(), 2 * (3 * 8 + 3 * 8 + 1 * 16));
  // (1, 3, 0) -> (3, 2, 1): x to 3, y to 2, z to 1; rank = x + 4 (y + 4 z)
  EXPECT_EQ(stops_of(*net, route_of(*net, 1 + 4 * 3, 3 + 4 * (2 + 4))),
            (std::vector<std::int32_t>{13, 14, 15, 11, 27}));
}

TEST(Torus, TakesTheShorterWayRoundUpOnATie) {
  const auto net = make_topology("torus:8x3");
  EXPECT_EQ(net->num_links(), 2 * (8 * 3 + 3 * 8));
  EXPECT_EQ(stops_of(*net, route_of(*net, 1, 6)), (std::vector<std::int32_t>{1, 0, 7, 6}));
  EXPECT_EQ(stops_of(*net, route_of(*net, 6, 2)), (std::vector<std::int32_t>{6, 7, 0, 1, 2}))
      << "4 either way: up";
  EXPECT_EQ(stops_of(*net, route_of(*net, 0, 16)), (std::vector<std::int32_t>{0, 16}));
}

TEST(Torus, TwoInALineAreOneCable) {
  EXPECT_EQ(make_topology("torus:2x2")->num_links(), make_topology("mesh:2x2")->num_links());
}

// --- Trees -------------------------------------------------------------------------------------------------

/// Vertices are numbered from the ranks upwards, so a link goes up where the number grows.
void expect_up_then_down(const Topology& net) {
  for_pairs(net, [&](Rank src, Rank dst) {
    const Route route = route_of(net, src, dst);
    const auto goes_up = [&](LinkId id) { return net.link(id).to > net.link(id).from; };
    ASSERT_TRUE(std::ranges::is_partitioned(route, goes_up)) << src << " -> " << dst;
    ASSERT_EQ(2 * std::ranges::count_if(route, goes_up), static_cast<std::ptrdiff_t>(route.size()));
  });
}

TEST(Trees, GoUpThenDown) {
  for (const char* spec :
       {"fattree:4x4x4", "fattree:4x6x5x2/2x3", "fattree:8x4/2", "tree:3x4x2/2x6", "cm5:256", "cm5:77"}) {
    SCOPED_TRACE(spec);
    expect_up_then_down(*make_topology(spec));
  }
}

int most_on_a_link(const Topology& net, const std::vector<Rank>& destinations) {
  std::map<LinkId, int> load;
  int most = 0;
  for (Rank src = 0; src < net.num_ranks(); ++src) {
    for (const LinkId id : route_of(net, src, destinations[static_cast<std::size_t>(src)])) {
      most = std::max(most, ++load[id]);
    }
  }
  return most;
}

TEST(FatTree, ShiftsShareNoLink) {
  for (const char* spec : {"fattree:4x4x4", "fattree:6x5x3", "fattree:8x8"}) {
    const auto net = make_topology(spec);
    const Rank n = net->num_ranks();
    for (Rank shift = 1; shift < n; ++shift) {
      std::vector<Rank> to;
      for (Rank src = 0; src < n; ++src) to.push_back((src + shift) % n);
      ASSERT_EQ(most_on_a_link(*net, to), 1) << spec << " by " << shift;
    }
  }
}

TEST(FatTree, ThinnedTwoToOneSharesTwoToOne) {
  const auto net = make_topology("fattree:8x8/2");
  EXPECT_EQ(net->num_ranks(), 64);
  EXPECT_EQ(net->num_links(), 2 * 8 * 4);
  std::vector<Rank> to;
  for (Rank src = 0; src < 64; ++src) to.push_back((src + 8) % 64);
  EXPECT_EQ(most_on_a_link(*net, to), 2);
}

TEST(FatTree, MessagesToOneRankMeetAtOneRoot) {
  const auto net = make_topology("fattree:4x4x4");
  for (Rank dst = 0; dst < 64; ++dst) {
    std::set<std::int32_t> roots;
    for (Rank src = 0; src < 64; ++src) {
      const auto stops = stops_of(*net, route_of(*net, src, dst));
      if (stops.size() == 5) roots.insert(stops[2]);
    }
    EXPECT_EQ(roots.size(), 1U);
  }
}

// 001 s.2 with ports of 20 MB/s: 10 MB/s each out of a cluster of four, 5 MB/s each out of sixteen and above.
TEST(Cm5, ThinsTowardsTheRoot) {
  const auto net = make_topology("cm5:256");
  const auto capacity_out_of = [&](Rank cluster) {
    for (LinkId id = 0; id < net->num_links(); ++id) {
      const Link link = net->link(id);
      if (link.from > link.to) continue;
      const Route route = route_of(*net, 0, cluster);
      if (route[route.size() / 2 - 1] == id) return link.capacity;
    }
    return 0.0;
  };
  EXPECT_TRUE(route_of(*net, 0, 3).empty());
  EXPECT_EQ(capacity_out_of(4), 4 * 10 / 20.0);
  EXPECT_EQ(capacity_out_of(16), 16 * 5 / 20.0);
  EXPECT_EQ(capacity_out_of(64), 64 * 5 / 20.0);
  EXPECT_EQ(make_topology("cm5:32")->num_links(), 2 * (8 + 2));
}

TEST(Tree, CapacitiesAreRanksByThinning) {
  const auto net = make_topology("tree:3x4x2/2x6");
  EXPECT_EQ(net->num_ranks(), 24);
  EXPECT_EQ(net->num_links(), 2 * (8 + 2));
  EXPECT_DOUBLE_EQ(net->link(0).capacity, 1.5);
  EXPECT_DOUBLE_EQ(net->link(net->num_links() - 1).capacity, 1.0);
}

// --- Dragonfly ---------------------------------------------------------------------------------------------

TEST(Dragonfly, RoutesAreLocalGlobalLocal) {
  for (const char* spec :
       {"dragonfly:a=4,h=2,p=2", "dragonfly:a=4,h=2,p=2,g=5", "dragonfly:a=3,h=2,p=4,g=3"}) {
    const auto net = make_topology(spec);
    const Rank a = spec[12] - '0';
    const auto group_of = [&](std::int32_t vertex) { return (vertex - net->num_ranks()) / a; };
    for_pairs(*net, [&](Rank src, Rank dst) {
      const auto stops = stops_of(*net, route_of(*net, src, dst));
      if (stops.empty()) return;
      std::string kinds;
      for (std::size_t i = 1; i < stops.size(); ++i)
        kinds += group_of(stops[i]) == group_of(stops[i - 1]) ? 'l' : 'g';
      ASSERT_TRUE(std::set<std::string>({"l", "g", "lg", "gl", "lgl"}).contains(kinds)) << kinds;
    });
  }
}

TEST(Dragonfly, SizesOfKimEtAl) {
  const auto net = make_topology("dragonfly:a=4,h=2,p=2");  // their figure 5: 72 terminals in nine groups
  EXPECT_EQ(net->num_ranks(), 72);
  EXPECT_EQ(net->num_links(), 9 * (4 * 3 + 8));
}

TEST(Dragonfly, SpreadsOverSeveralCablesBetweenGroups) {
  const auto net = make_topology("dragonfly:a=4,h=2,p=2,g=3");  // four cables between any two groups
  std::set<LinkId> between;
  for (Rank dst = 8; dst < 16; ++dst) {
    for (const LinkId id : route_of(*net, 0, dst)) {
      if ((net->link(id).from - 24) / 4 != (net->link(id).to - 24) / 4) between.insert(id);
    }
  }
  EXPECT_EQ(between.size(), 4U);
}

TEST(Dragonfly, PathsThatAreAskedForMakeOneDetour) {
  const auto plain = make_topology("dragonfly:a=4,h=2,p=2");
  const auto net = make_topology("dragonfly:a=4,h=2,p=2,paths=5");
  for_pairs(*net, [&](Rank src, Rank dst) {
    ASSERT_EQ(route_of(*net, src, dst), route_of(*plain, src, dst));
    const bool same_group = src / 8 == dst / 8;
    ASSERT_EQ(net->num_paths(src, dst), src / 2 == dst / 2 ? 1 : same_group ? 3 : 5);
    std::set<std::int32_t> visited;
    for (std::int64_t path = 1; path < net->num_paths(src, dst); ++path) {
      Route way;
      net->append_path(src, dst, path, way);
      std::set<std::int32_t> groups;
      for (const std::int32_t stop : stops_of(*net, way)) groups.insert((stop - 72) / 4);
      ASSERT_EQ(groups.size(), same_group ? 1U : 3U);
      ASSERT_LE(way.size(), same_group ? 2U : 5U);
      for (const LinkId link : way) ASSERT_EQ(std::ranges::count(way, link), 1) << src << " -> " << dst;
      visited.insert(same_group ? net->link(way[0]).to
                                : *std::ranges::find_if(groups, [&](std::int32_t group) {
                                    return group != src / 8 && group != dst / 8;
                                  }));
    }
    ASSERT_EQ(std::ssize(visited), net->num_paths(src, dst) - 1);
  });
  EXPECT_EQ(make_topology("dragonfly:a=4,h=2,p=2,paths=100")->num_paths(0, 71), 8);  // by seven other groups
  EXPECT_EQ(make_topology("dragonfly:a=4,h=2,p=2,g=3,paths=2")->num_paths(0, 23),
            4);  // cables between the groups
}

}  // namespace
}  // namespace nuice
