// SPDX-License-Identifier: BSD-3-Clause
// Paths by colouring, level by level. In a phase, a switch's subtree of level 1 sends and receives at most as much as it
// has ranks, so the multigraph of subtrees, an edge for each transfer that leaves its own, can be coloured with that many
// colours (Koenig). A colour is a cable upwards: in one colour every subtree sends one transfer and receives one, and all
// meet switches of one number r. Among these the same is done with the subtrees of level 2, and so on.
//
// Where a switch has w cables for more than w transfers of a phase, colour c stands for cable c mod w in part c / w of the
// phase.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "nuice/core/check.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/interrupt.hpp"
#include "nuice/plan/paths.hpp"

namespace nuice {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

struct Edge {
  Rank from;  // left and right vertices are numbered apart
  Rank to;
};

/// Colours of a bipartite multigraph, as few as its largest degree, by alternating paths.
class EdgeColouring {
 public:
  EdgeColouring(std::span<const Edge> edges, Rank num_vertices) : edges_(edges) {
    std::vector<std::uint32_t> degree(2 * static_cast<std::size_t>(num_vertices), 0);
    for (const Edge& edge : edges) {
      ++degree[left(edge)];
      ++degree[right(edge)];
    }
    num_colours_ = degree.empty() ? 0 : std::ranges::max(degree);
    at_.assign(degree.size() * num_colours_, none);
    colour_.assign(edges.size(), none);
    for (std::uint32_t id = 0; id < edges.size(); ++id) colour(id);
  }

  std::uint32_t num_colours() const { return num_colours_; }
  std::uint32_t colour_of(std::size_t edge) const { return colour_[edge]; }

 private:
  static std::size_t left(const Edge& edge) { return 2 * static_cast<std::size_t>(edge.from); }
  static std::size_t right(const Edge& edge) { return 2 * static_cast<std::size_t>(edge.to) + 1; }
  std::uint32_t& at(std::size_t vertex, std::uint32_t colour) { return at_[vertex * num_colours_ + colour]; }
  std::uint32_t first_free(std::size_t vertex) {
    std::uint32_t colour = 0;
    while (at(vertex, colour) != none) ++colour;
    return colour;
  }

  void colour(std::uint32_t id) {
    const std::size_t u = left(edges_[id]);
    const std::size_t v = right(edges_[id]);
    const std::uint32_t a = first_free(u);
    const std::uint32_t b = first_free(v);
    if (at(v, a) != none) flip(v, a, b);
    set(id, a);
  }

  /// Exchanges the colours of the path that leaves a vertex with colour a and goes on with b, a, ...: b is free there.
  void flip(std::size_t vertex, std::uint32_t a, std::uint32_t b) {
    path_.clear();
    for (std::uint32_t next = a; at(vertex, next) != none; next = next == a ? b : a) {
      path_.push_back(at(vertex, next));
      const Edge& edge = edges_[path_.back()];
      vertex = vertex == left(edge) ? right(edge) : left(edge);
    }
    for (const std::uint32_t id : path_) {
      at(left(edges_[id]), colour_[id]) = none;
      at(right(edges_[id]), colour_[id]) = none;
    }
    for (const std::uint32_t id : path_) set(id, colour_[id] == a ? b : a);
  }

  void set(std::uint32_t id, std::uint32_t colour) {
    colour_[id] = colour;
    at(left(edges_[id]), colour) = id;
    at(right(edges_[id]), colour) = id;
  }

  std::span<const Edge> edges_;
  std::uint32_t num_colours_ = 0;
  std::vector<std::uint32_t> at_;  // by vertex and colour: the edge
  std::vector<std::uint32_t> colour_;
  std::vector<std::uint32_t> path_;
};

class Chooser {
 public:
  Chooser(const Schedule& schedule, const Topology& topology)
      : schedule_(schedule), levels_(topology.levels()) {}

  Schedule make() {
    Schedule result(schedule_.num_ranks());
    result.reserve(schedule_.num_pieces());
    std::size_t first = 0;
    for (PhaseId phase = 0; phase < schedule_.num_phases(); ++phase) {
      check_interrupt();
      ends_.clear();
      for (const Transfer transfer : schedule_.transfers(phase))
        ends_.push_back({transfer.src, transfer.dst});
      path_.assign(ends_.size(), 0);
      part_.assign(ends_.size(), 0);
      num_parts_ = 1;
      std::vector<std::uint32_t> all(ends_.size());
      std::iota(all.begin(), all.end(), 0U);
      colour(all, 0, 1, 1);
      append(first, result);
      first += ends_.size();
    }
    return result;
  }

 private:
  /// Those that turn above `level`. weight: of its cable in the path; parts: of the phase, on the levels below.
  void colour(const std::vector<std::uint32_t>& transfers, std::size_t level, std::int64_t weight,
              std::uint32_t parts) {
    if (level + 1 == levels_.size()) return;
    const TreeLevel& here = levels_[level];
    std::vector<std::uint32_t> higher;
    std::vector<Edge> edges;
    Rank most = 0;
    for (const std::uint32_t i : transfers) {
      const Edge edge{ends_[i].from / here.ranks, ends_[i].to / here.ranks};
      if (edge.from == edge.to) continue;
      higher.push_back(i);
      edges.push_back(edge);
      most = std::max({most, edge.from, edge.to});
    }
    if (edges.empty()) return;
    const EdgeColouring colours(edges, most + 1);
    const auto cables = static_cast<std::uint32_t>(here.cables);
    std::vector<std::vector<std::uint32_t>> of_colour(colours.num_colours());
    for (std::size_t i = 0; i < higher.size(); ++i) {
      const std::uint32_t c = colours.colour_of(i);
      path_[higher[i]] += weight * (c % cables);
      part_[higher[i]] += parts * (c / cables);
      of_colour[c].push_back(higher[i]);
    }
    const std::uint32_t parts_here = (colours.num_colours() + cables - 1) / cables;
    num_parts_ = std::max(num_parts_, parts * parts_here);
    for (const auto& those : of_colour) colour(those, level + 1, weight * here.cables, parts * parts_here);
  }

  /// The phase, part by part, without empty ones.
  void append(std::size_t first, Schedule& result) const {
    std::vector<Piece> pieces;
    std::vector<std::size_t> order(ends_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return part_[i]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || part_[order[i]] != part_[order[i - 1]]) result.begin_phase();
      const Transfer transfer = schedule_.transfer(first + order[i]);
      pieces.clear();
      for (const Piece piece : transfer.pieces) pieces.push_back(piece);
      result.add(transfer.src, transfer.dst, pieces, path_[order[i]]);
    }
  }

  const Schedule& schedule_;
  const std::vector<TreeLevel> levels_;
  // Of the phase at hand, by transfer:
  std::vector<Edge> ends_;
  std::vector<std::int64_t> path_;
  std::vector<std::uint32_t> part_;
  std::uint32_t num_parts_ = 1;
};

}  // namespace

std::string why_no_paths(const Topology& topology) {
  if (!topology.levels().empty()) return {};
  return "paths are chosen on trees of switches with several cables upwards; " + topology.name() + " is none";
}

Schedule choose_paths(const Schedule& schedule, const Topology& topology) {
  if (const std::string reason = why_no_paths(topology); !reason.empty())
    throw Error(ErrorCode::not_applicable, reason);
  if (topology.num_ranks() < schedule.num_ranks()) {
    throw Error(ErrorCode::mismatch,
                "topology " + topology.name() + " has " + std::to_string(topology.num_ranks()) +
                    " ranks, the schedule is for " + std::to_string(schedule.num_ranks()));
  }
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    if (const auto violation = find_node_contention(schedule, phase))
      throw Error(ErrorCode::not_applicable,
                  "paths are chosen for phases without node contention: " + violation->text);
  return Chooser(schedule, topology).make();
}

}  // namespace nuice
