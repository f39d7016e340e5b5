// SPDX-License-Identifier: BSD-3-Clause
// file:NAME, a network of any shape from a text file, whose format docs/reference/networks.md describes.
//
//   nuice-network 1
//   rank n[0-3]            # ranks 0 .. 3, in the order of the lines
//   switch left right
//   cable n[0-1] left      # both directions; joins every n with left; capacity 1
//   cable n[2-3] right
//   cable left right 2.5
//   link n0 right 0.5      # one direction
//
// Routing: shortest routes, counted in links. A number q, at first dst, chooses among them. At each vertex, c
// links continue a shortest route to dst. The route takes number (q mod c) of these links, in the order in
// which they were added, and q becomes q / c. So a route is a function of (src, dst), routes to different
// ranks are spread, and in a fat tree the result is d-mod-k. Hosts are only ends of routes.
//
// Memory: 2 bytes for each pair of a vertex and a home. Building the network takes a breadth-first search per
// home.
#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"
#include "topology/host_list.hpp"
#include "topology/kinds.hpp"

namespace nuice::topo {
namespace {

constexpr std::uint16_t far_away = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t most_distances = std::size_t{1} << 29;

/// The network and its routing tables, as build() makes them.
struct Graph {
  Rank num_ranks = 0;
  std::vector<std::string> names;       // by vertex: ranks, then switches
  std::vector<Link> links;              // without the links between a rank and its home
  std::vector<std::int32_t> home;       // by rank: the switch whose only cable is its port, or itself
  std::vector<std::size_t> first_out;   // by vertex, index into `out`; the last entry is the end
  std::vector<LinkId> out;              // outgoing links by vertex, ascending
  std::vector<std::int32_t> target_of;  // by vertex that is a home: its row of `distance`
  std::vector<std::uint16_t> distance;  // by target, then vertex: links from the vertex to the target
  std::uint16_t distance_to(std::int32_t target, std::int32_t from) const {
    return distance[static_cast<std::size_t>(target) * names.size() + static_cast<std::size_t>(from)];
  }
};

class GraphTopology final : public NamedTopology {
 public:
  GraphTopology(const Spec& spec, Graph graph)
      : NamedTopology(spec, graph.num_ranks, static_cast<std::int64_t>(graph.links.size())),
        graph_(std::move(graph)) {}

  Link link(LinkId id) const override { return graph_.links[static_cast<std::size_t>(id)]; }

  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    append_path(src, dst, dst, route);
  }

  /// Returns the product of the numbers of links that begin a shortest route, along the route of path 0.
  std::int64_t num_paths(Rank src, Rank dst) const override {
    std::int64_t paths = 1;
    walk(src, dst, 0, [&](LinkId, std::size_t choices) {
      paths = saturating_product(paths, static_cast<std::int64_t>(choices));
    });
    return paths;
  }

  void append_path(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const override {
    walk(src, dst, path, [&](LinkId link, std::size_t) { route.push_back(link); });
  }

  std::string vertex_name(std::int32_t vertex) const override {
    const std::string& name = graph_.names[static_cast<std::size_t>(vertex)];
    return vertex < graph_.num_ranks ? "rank " + std::to_string(vertex) + ", " + name : name;
  }

 private:
  /// For each link of a path, calls visit(link, number of links from which it was chosen).
  template <typename Visit>
  void walk(Rank src, Rank dst, std::int64_t path, Visit visit) const {
    std::int32_t at = graph_.home[static_cast<std::size_t>(src)];
    const std::int32_t end = graph_.home[static_cast<std::size_t>(dst)];
    const std::int32_t target = graph_.target_of[static_cast<std::size_t>(end)];
    for (auto quotient = static_cast<std::size_t>(path); at != end;) {
      const auto is_nearer = [&](LinkId id) {
        return graph_.distance_to(target, link(id).to) + 1 == graph_.distance_to(target, at);
      };
      const std::size_t begin = graph_.first_out[static_cast<std::size_t>(at)];
      const std::size_t out_end = graph_.first_out[static_cast<std::size_t>(at) + 1];
      std::size_t count = 0;
      for (std::size_t i = begin; i < out_end; ++i) count += is_nearer(graph_.out[i]) ? 1 : 0;
      std::size_t skip = quotient % count;
      quotient /= count;
      std::size_t i = begin;
      while (!is_nearer(graph_.out[i]) || skip-- > 0) ++i;
      visit(graph_.out[i], count);
      at = link(graph_.out[i]).to;
    }
  }

  Graph graph_;
};

/// Returns the home of each rank. If a rank's only links lead to and from one switch, and are as fast as its
/// port, the switch is its home. These links are then ports and not links. Otherwise the rank is its own
/// home.
std::vector<std::int32_t> find_homes(const Graph& graph) {
  std::vector<int> num_out(graph.names.size(), 0);
  std::vector<int> num_in(graph.names.size(), 0);
  std::vector<std::int32_t> out_to(graph.names.size(), no_rank);
  std::vector<std::int32_t> in_from(graph.names.size(), no_rank);
  for (const Link& link : graph.links) {
    const auto from = static_cast<std::size_t>(link.from);
    const auto to = static_cast<std::size_t>(link.to);
    num_out[from] += link.capacity < 1 ? 2 : 1;  // a link slower than a port must stay a link
    num_in[to] += link.capacity < 1 ? 2 : 1;
    out_to[from] = link.to;
    in_from[to] = link.from;
  }
  std::vector<std::int32_t> home;
  for (Rank rank = 0; rank < graph.num_ranks; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const bool hangs =
        num_out[i] == 1 && num_in[i] == 1 && out_to[i] == in_from[i] && out_to[i] >= graph.num_ranks;
    home.push_back(hangs ? out_to[i] : rank);
  }
  return home;
}

void drop_cables_of_hanging_ranks(Graph& graph) {
  const auto hangs = [&graph](std::int32_t vertex) {
    return vertex < graph.num_ranks && graph.home[static_cast<std::size_t>(vertex)] != vertex;
  };
  std::erase_if(graph.links, [&](const Link& link) { return hangs(link.from) || hangs(link.to); });
}

/// Groups ids of links by one of their ends. Returns the ids, and for each vertex the index of its first id.
std::pair<std::vector<std::size_t>, std::vector<LinkId>> links_by(const Graph& graph,
                                                                  std::int32_t Link::* end) {
  std::vector<std::size_t> first(graph.names.size() + 1, 0);
  for (const Link& link : graph.links) ++first[static_cast<std::size_t>(link.*end) + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::size_t> place(first.begin(), first.end() - 1);
  std::vector<LinkId> ids(graph.links.size());
  for (std::size_t id = 0; id < graph.links.size(); ++id) {
    ids[place[static_cast<std::size_t>(graph.links[id].*end)]++] = static_cast<LinkId>(id);
  }
  return {std::move(first), std::move(ids)};
}

/// Throws if a rank cannot reach dst. Row `target` has the distances to dst.
void require_all_reach(const Graph& graph, std::int32_t target, Rank dst, const std::string& origin) {
  for (Rank src = 0; src < graph.num_ranks; ++src) {
    if (graph.distance_to(target, graph.home[static_cast<std::size_t>(src)]) != far_away) continue;
    throw Error(ErrorCode::parse, origin + ": no route leads from " +
                                      graph.names[static_cast<std::size_t>(src)] + " to " +
                                      graph.names[static_cast<std::size_t>(dst)]);
  }
}

/// Finds distances by a breadth-first search from each home, backwards over the links. Allocates the memory
/// for all searches only when the first search has shown that all ranks can reach the first home, so that
/// unconnected ranks cost no memory.
void find_distances(Graph& graph, std::size_t num_targets, const std::string& origin) {
  const auto [first_in, in] = links_by(graph, &Link::to);
  std::vector<std::int32_t> open;
  for (Rank dst = 0; dst < graph.num_ranks; ++dst) {
    const std::int32_t home = graph.home[static_cast<std::size_t>(dst)];
    std::int32_t& target = graph.target_of[static_cast<std::size_t>(home)];
    if (target != no_rank) continue;
    target = static_cast<std::int32_t>(graph.distance.size() / graph.names.size());
    const std::size_t row = graph.distance.size();
    graph.distance.resize(row + graph.names.size(), far_away);
    graph.distance[row + static_cast<std::size_t>(home)] = 0;
    open.assign(1, home);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto at = static_cast<std::size_t>(open[i]);
      for (std::size_t k = first_in[at]; k < first_in[at + 1]; ++k) {
        const std::int32_t before = graph.links[static_cast<std::size_t>(in[k])].from;
        std::uint16_t& distance = graph.distance[row + static_cast<std::size_t>(before)];
        if (distance != far_away) continue;
        distance = static_cast<std::uint16_t>(graph.distance[row + at] + 1);
        if (distance == far_away)
          throw Error(ErrorCode::limit, origin + ": a route of more than 65534 links");
        open.push_back(before);
      }
    }
    require_all_reach(graph, target, dst, origin);
    if (row == 0) graph.distance.reserve(num_targets * graph.names.size());
  }
}

constexpr std::size_t most_links = std::size_t{1} << 24;

/// Reads the lines of a file, and makes the network.
class GraphFileReader {
 public:
  GraphFileReader(std::istream& in, const std::string& name) : lines_(in, name) {}

  void read() {
    if (!next() || words_.size() != 2 || words_[0] != "nuice-network" || words_[1] != "1") {
      lines_.fail("expected \"nuice-network 1\"");
    }
    while (next()) {
      const std::string_view what = words_[0];
      if (what == "rank" || what == "switch") {
        declare(what == "rank");
      } else if (what == "cable" || what == "link") {
        connect(what == "cable");
      } else {
        lines_.fail("\"" + std::string(what) + "\" is not one of rank, switch, cable, link");
      }
    }
  }

  /// Makes the network. Throws Error `parse` if a rank cannot reach another rank, and `limit` if the network
  /// is too large.
  Made build(const Spec& spec) const {
    const std::string& origin = spec.arguments;
    spec.check_size(static_cast<std::int64_t>(names_.size()), static_cast<std::int64_t>(links_.size()));
    Graph graph;
    std::vector<std::int32_t> vertex_of(names_.size());  // ranks get the first numbers
    for (const bool ranks : {true, false}) {
      for (std::size_t i = 0; i < names_.size(); ++i) {
        if (is_rank_[i] != ranks) continue;
        vertex_of[i] = static_cast<std::int32_t>(graph.names.size());
        graph.names.push_back(names_[i]);
      }
      if (ranks) graph.num_ranks = static_cast<Rank>(graph.names.size());
    }
    if (graph.num_ranks == 0) throw Error(ErrorCode::parse, origin + ": there are no ranks");
    for (const Link& link : links_) {
      graph.links.push_back({vertex_of[static_cast<std::size_t>(link.from)],
                             vertex_of[static_cast<std::size_t>(link.to)], link.capacity});
    }
    graph.home = find_homes(graph);
    drop_cables_of_hanging_ranks(graph);
    graph.target_of.assign(graph.names.size(), no_rank);
    std::vector<std::int32_t> targets = graph.home;
    std::ranges::sort(targets);
    const auto num_targets = static_cast<std::size_t>(std::ranges::unique(targets).begin() - targets.begin());
    if (num_targets * graph.names.size() > most_distances) {
      throw Error(ErrorCode::limit, origin + ": more than 2^29 distances between switches to keep");
    }
    std::tie(graph.first_out, graph.out) = links_by(graph, &Link::from);
    find_distances(graph, num_targets, origin);
    return std::make_unique<GraphTopology>(spec, std::move(graph));
  }

 private:
  using Vertex = std::int32_t;

  /// Reads the words of the next line that is not empty. Text after a # is a comment.
  bool next() {
    while (lines_.next(line_)) {
      words_ = core::split_words(std::string_view(line_).substr(0, line_.find('#')));
      if (!words_.empty()) return true;
    }
    words_.clear();
    return false;
  }

  std::vector<std::string> names_in(std::string_view word) const {
    std::vector<std::string> names;
    if (const std::string reason = expand_host_list(word, names); !reason.empty()) lines_.fail(reason);
    if (names.empty()) lines_.fail("a name is missing");
    return names;
  }

  void declare(bool is_rank) {
    if (words_.size() < 2) lines_.fail("expected \"" + std::string(words_[0]) + " NAME...\"");
    for (const std::string_view word : std::span(words_).subspan(1)) {
      const std::vector<std::string> names = names_in(word);
      if (static_cast<std::int64_t>(names_.size() + names.size()) > max_vertices)
        lines_.fail(ErrorCode::limit, "more than " + std::to_string(max_vertices) + " ranks and switches");
      for (const std::string& name : names) {
        if (!vertices_.try_emplace(name, static_cast<Vertex>(names_.size())).second)
          lines_.fail("\"" + name + "\" is declared twice");
        is_rank_.push_back(is_rank);
        names_.push_back(name);
      }
    }
  }

  void connect(bool both_ways) {
    if (words_.size() != 3 && words_.size() != 4) {
      lines_.fail("expected \"" + std::string(words_[0]) + " A B [CAPACITY]\"");
    }
    double capacity = 1;
    const bool good =
        words_.size() == 3 || (core::parse_number(words_[3], capacity) && capacity > 0 && capacity < 1e18);
    if (!good) {
      lines_.fail("\"" + std::string(words_[3]) + "\" is not a capacity above 0");
    }
    const std::vector<std::string> to = names_in(words_[2]);
    for (const std::string& a : names_in(words_[1])) {
      for (const std::string& b : to) connect(a, b, capacity, both_ways);
    }
  }

  void connect(const std::string& a, const std::string& b, double capacity, bool both_ways) {
    if (a == b) lines_.fail("\"" + a + "\" cannot be connected with itself");
    if (links_.size() >= most_links) {
      lines_.fail(ErrorCode::limit, "more than " + std::to_string(most_links) + " links");
    }
    links_.push_back({find(a), find(b), capacity});
    if (both_ways) links_.push_back({find(b), find(a), capacity});
  }

  Vertex find(const std::string& name) const {
    const auto found = vertices_.find(name);
    if (found == vertices_.end()) lines_.fail("no rank or switch is called \"" + name + "\"");
    return found->second;
  }

  core::LineReader lines_;
  std::string line_;
  std::vector<std::string_view> words_;
  std::map<std::string, Vertex> vertices_;
  // By vertex and by link, in the order of the file.
  std::vector<bool> is_rank_;
  std::vector<std::string> names_;
  std::vector<Link> links_;  // between vertices in this order
};

}  // namespace

Made make_from_file(const Spec& spec) {
  if (spec.arguments.empty()) spec.fail("the name of the file is missing");
  core::UnpackedFile in(spec.arguments);
  GraphFileReader reader(in, spec.arguments);
  reader.read();
  return reader.build(spec);
}

}  // namespace nuice::topo
