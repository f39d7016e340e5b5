// SPDX-License-Identifier: BSD-3-Clause
// The registry of kinds of networks. A new kind needs a file in this folder, a line in kinds.hpp, and an
// entry here.
#include "nuice/core/networks.hpp"

#include <algorithm>
#include <array>

#include "core/support/table.hpp"
#include "topology/kinds.hpp"

namespace nuice {
namespace {

struct Row : TopologyKind {
  topo::Made (*make)(const topo::Spec&);
};

constexpr std::array table{
    Row{{"crossbar", "crossbar:N", "N ranks on one switch that never blocks", "003 s.2"},
        topo::make_crossbar},
    Row{{"hypercube", "hypercube:D", "2^D ranks, e-cube routing: lowest differing bit first",
         "000 s.6; Sullivan 1977"},
        topo::make_hypercube},
    Row{{"mesh", "mesh:K1[xK2...]", "K1 * K2 * ... ranks, dimension-order routing: first dimension first",
         "Dally and Seitz 1987"},
        topo::make_mesh},
    Row{{"torus", "torus:K1[xK2...]", "mesh whose lines are rings, in the shorter direction, up on a tie",
         "Dally and Seitz 1987"},
        topo::make_torus},
    Row{{"fattree", "fattree:M1xM2[x...][/T1[xT2...]]",
         "Ml children per switch of level l, thinned Tl : 1 upwards; d-mod-k up-down routing",
         "Petrini and Vanneschi 1997; Zahavi 2010"},
        topo::make_fat_tree},
    Row{{"tree", "tree:M1xM2[x...][/T1[xT2...]]",
         "the same with one fat link where fattree has several: a single route up and down",
         "Leiserson 1985"},
        topo::make_tree},
    Row{{"cm5", "cm5:N", "N ranks in clusters of four, thinned 2 : 1 above 4 and above 16, as on the CM-5",
         "001 s.2, fig. 1"},
        topo::make_cm5},
    Row{{"dragonfly", "dragonfly:a=A,h=H,p=P[,g=G][,paths=N]",
         "G groups of A routers with P ranks and H global cables each; minimal routing, N paths to choose "
         "from",
         "Kim et al., ISCA 2008"},
        topo::make_dragonfly},
    Row{{"file", "file:NAME", "any network from a text file, shortest routes", "docs/reference/networks.md"},
        topo::make_from_file},
    Row{{"ib", "ib:DIR[,hosts=FILE]",
         "an InfiniBand fabric with its routing tables: ibnetdiscover and dump_fts",
         "docs/reference/networks.md"},
        topo::make_from_ib},
};

constexpr auto kinds = [] {
  std::array<TopologyKind, table.size()> result{};
  std::ranges::copy(table, result.begin());
  return result;
}();

}  // namespace

std::span<const TopologyKind> topology_kinds() { return kinds; }

std::unique_ptr<const Topology> make_topology(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const Row& row = core::require_row(table, "topology", spec.substr(0, colon));
  const std::string_view arguments = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  return row.make({std::string(spec), std::string(row.syntax), std::string(arguments)});
}

std::string why_too_small(const Topology& topology, Rank num_ranks) {
  if (topology.num_ranks() >= num_ranks) return {};
  return "topology " + topology.name() + " has " + std::to_string(topology.num_ranks()) +
         " ranks, the matrix has " + std::to_string(num_ranks);
}

}  // namespace nuice
