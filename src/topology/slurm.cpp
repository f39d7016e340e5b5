// SPDX-License-Identifier: BSD-3-Clause
// slurm:FILE, the switches of a cluster from Slurm's configuration (slurm_files.hpp):
//
//   SwitchName=leaf0 Nodes=n[0-15]
//   SwitchName=leaf1 Nodes=n[16-31]
//   SwitchName=spine Switches=leaf[0-1]
//
// Ranks are the hosts in the order of the file, or the hosts of hosts=FILE2, which has one line per host in
// the order of ranks: "NAME" or "NAME slots=K". The ranks of a host share one cable to each of its switches.
// If a host has a single rank and a single switch, the cable is the rank's port. Slurm's files do not contain
// capacities. With thin=T the upward cables of a switch together have 1/T of the capacity of the hosts below
// it (default: T = 1).
//
// Blocks are switches below one common switch. If no switch joins some islands, they are joined by one switch
// whose cables have the full capacity.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"
#include "topology/graph.hpp"
#include "topology/kinds.hpp"
#include "topology/slurm_files.hpp"

namespace nuice::topo {
namespace {

constexpr int most_levels = 1000;

[[noreturn]] void fail_at(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::parse, where + ": " + what);
}

/// A number for each name. Names in files may differ from each other in upper and lower case.
class Names {
 public:
  /// Returns the number of a name. A new name gets the next number.
  std::size_t add(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, numbers_.size());
    if (is_new) in_small_letters_[core::lower(name)].push_back(found->second);
    return found->second;
  }
  /// Returns the number of the name as written. If there is no such name, but exactly one name that differs
  /// only in case, returns the number of this other name.
  std::optional<std::size_t> find(const std::string& name) const {
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    const auto alike = in_small_letters_.find(core::lower(name));
    if (alike == in_small_letters_.end() || alike->second.size() != 1) return std::nullopt;
    return alike->second.front();
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, std::vector<std::size_t>> in_small_letters_;
};

void add_once(std::vector<std::size_t>& numbers, std::size_t number) {
  if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
}

struct Switch {
  std::string name;
  std::string where;
  std::vector<std::size_t> hosts = {};
  std::vector<std::size_t> children = {};
  std::vector<std::size_t> parents = {};
  std::int64_t num_hosts = -1;  // number of hosts below it; -1: not yet known, -2: being counted
  std::size_t island = 0;       // the number of one of the island's switches, the same one for all of them
};

struct Host {
  std::string name;
  std::vector<std::size_t> switches;
};

/// The cluster that the list of all switches describes.
class Cluster {
 public:
  explicit Cluster(SlurmFile file) {
    if (!file.blocks.empty()) add_top_of(file);
    for (const SlurmSwitch& one : file.switches) add_switch(one);
    for (std::size_t i = 0; i < switches_.size(); ++i)
      for (const std::string& child : file.switches[i].children) add_child(i, child);
    for (std::size_t i = 0; i < switches_.size(); ++i) count_hosts(i, 1);
    find_islands();
  }

  const std::vector<Host>& hosts() const { return hosts_; }
  std::optional<std::size_t> find_host(const std::string& name) const { return host_names_.find(name); }

  GraphBuilder with_ranks(const std::vector<std::size_t>& host_of_rank, double thinning) const {
    GraphBuilder graph;
    std::vector<std::vector<GraphBuilder::Vertex>> ranks_of(hosts_.size());
    std::vector<std::size_t> used;  // in the order of their first rank
    for (const std::size_t host : host_of_rank) {
      if (ranks_of[host].empty()) used.push_back(host);
      ranks_of[host].push_back(graph.add_rank(hosts_[host].name));
    }
    std::vector<GraphBuilder::Vertex> vertex_of;
    for (const Switch& here : switches_) vertex_of.push_back(graph.add_switch(here.name));
    for (const std::size_t host : used) connect(graph, hosts_[host], ranks_of[host], vertex_of);
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const Switch& here = switches_[i];
      const double together = static_cast<double>(std::max<std::int64_t>(here.num_hosts, 1)) / thinning;
      for (const std::size_t parent : here.parents) {
        graph.add_cable(vertex_of[i], vertex_of[parent], together / static_cast<double>(here.parents.size()));
      }
    }
    join_islands(graph, used, vertex_of);
    return graph;
  }

 private:
  /// Adds a switch above all blocks. Slurm's block plugin says which hosts are close to each other, but
  /// nothing about the network between blocks.
  static void add_top_of(SlurmFile& file) {
    SlurmSwitch top{
        .name = "between blocks", .hosts = {}, .children = {}, .where = file.blocks.front().where};
    for (SlurmSwitch& block : file.blocks) {
      top.children.push_back(block.name);
      file.switches.push_back(std::move(block));
    }
    file.switches.push_back(std::move(top));
  }

  void add_switch(const SlurmSwitch& from) {
    if (switch_names_.add(from.name) != switches_.size()) {
      const Switch& before = switches_[*switch_names_.find(from.name)];
      fail_at(from.where, "switch \"" + from.name + "\" is described at " + before.where + " too");
    }
    Switch& here = switches_.emplace_back(Switch{.name = from.name, .where = from.where});
    here.island = switches_.size() - 1;
    for (const std::string& name : from.hosts) {
      const std::size_t host = host_names_.add(name);
      if (host == hosts_.size()) hosts_.push_back({name, {}});
      add_once(hosts_[host].switches, here.island);
      add_once(here.hosts, host);
    }
  }

  void add_child(std::size_t parent, const std::string& name) {
    const auto child = switch_names_.find(name);
    if (!child) fail_at(switches_[parent].where, "no switch is called \"" + name + "\"");
    add_once(switches_[parent].children, *child);
    add_once(switches_[*child].parents, parent);
  }

  /// Counts the hosts below a switch. A host below two of its children counts twice.
  std::int64_t count_hosts(std::size_t i, int depth) {
    Switch& here = switches_[i];
    if (here.num_hosts == -2) fail_at(here.where, "switch \"" + here.name + "\" is below itself");
    if (here.num_hosts >= 0) return here.num_hosts;
    if (depth > most_levels)
      fail_at(here.where, "more than " + std::to_string(most_levels) + " levels of switches");
    here.num_hosts = -2;
    auto sum = static_cast<std::int64_t>(here.hosts.size());
    for (const std::size_t child : here.children)
      sum = std::min(max_vertices, sum + count_hosts(child, depth + 1));
    return here.num_hosts = sum;
  }

  std::size_t island_of(std::size_t i) {
    while (switches_[i].island != i) i = switches_[i].island = switches_[switches_[i].island].island;
    return i;
  }

  /// Finds the islands. An island is a set of switches that cables join.
  void find_islands() {
    const auto join = [this](std::size_t a, std::size_t b) { switches_[island_of(a)].island = island_of(b); };
    for (std::size_t i = 0; i < switches_.size(); ++i)
      for (const std::size_t parent : switches_[i].parents) join(i, parent);
    for (std::size_t i = 0; i < switches_.size(); ++i) switches_[i].island = island_of(i);
  }

  static void connect(GraphBuilder& graph, const Host& host, const std::vector<GraphBuilder::Vertex>& ranks,
                      const std::vector<GraphBuilder::Vertex>& vertex_of) {
    const bool is_alone = ranks.size() == 1 && host.switches.size() == 1;
    const GraphBuilder::Vertex hook = is_alone ? ranks.front() : graph.add_host(host.name);
    for (const std::size_t leaf : host.switches) graph.add_cable(hook, vertex_of[leaf], 1);
    if (is_alone) return;
    for (const GraphBuilder::Vertex rank : ranks) graph.add_cable(rank, hook, 1);
  }

  /// Joins each island by one cable to a switch between all islands. The cable leads to the top switch with
  /// the most hosts, so that no route inside an island becomes shorter.
  void join_islands(GraphBuilder& graph, const std::vector<std::size_t>& used,
                    const std::vector<GraphBuilder::Vertex>& vertex_of) const {
    std::map<std::size_t, std::size_t> top_of;  // by island, for islands with ranks
    for (const std::size_t host : used)
      for (const std::size_t leaf : hosts_[host].switches) top_of.try_emplace(switches_[leaf].island, leaf);
    if (top_of.size() < 2) return;
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const auto top = top_of.find(switches_[i].island);
      if (top == top_of.end() || !switches_[i].parents.empty()) continue;
      const Switch& best = switches_[top->second];
      if (!best.parents.empty() || switches_[i].num_hosts > best.num_hosts) top->second = i;
    }
    const GraphBuilder::Vertex between = graph.add_switch("between islands");
    for (const auto& [island, top] : top_of)
      graph.add_cable(vertex_of[top], between, static_cast<double>(switches_[top].num_hosts));
  }

  std::vector<Switch> switches_;
  std::vector<Host> hosts_;
  Names switch_names_;
  Names host_names_;
};

std::vector<std::size_t> read_hosts(const std::string& path, const Cluster& cluster) {
  core::UnpackedFile in(path);
  core::LineReader lines(in, path);
  std::vector<std::size_t> hosts;
  for (std::string line; lines.next(line);) {
    const auto words = core::split_words(std::string_view(line).substr(0, line.find('#')));
    if (words.empty()) continue;
    const auto host = cluster.find_host(std::string(words[0]));
    if (!host) lines.fail("no switch has a host \"" + std::string(words[0]) + "\"");
    std::int64_t slots = 1;
    const bool good = words.size() == 1 || (words.size() == 2 && words[1].starts_with("slots=") &&
                                            core::parse_number(words[1].substr(6), slots) && slots > 0);
    if (!good) lines.fail(R"(expected "HOST" or "HOST slots=K")");
    if (static_cast<std::int64_t>(hosts.size()) + slots > max_vertices)
      lines.fail(ErrorCode::limit, "too many ranks");
    hosts.insert(hosts.end(), static_cast<std::size_t>(slots), *host);
  }
  return hosts;
}

std::vector<std::size_t> all_hosts(const Cluster& cluster) {
  std::vector<std::size_t> hosts(cluster.hosts().size());
  std::iota(hosts.begin(), hosts.end(), std::size_t{0});
  return hosts;
}

}  // namespace

Made make_from_slurm(const Spec& spec) {
  std::string hosts_path;
  std::string topology;
  double thinning = 1;
  const auto parts = split_at(spec.arguments, ',');
  const std::string path(parts[0]);
  if (path.empty()) spec.fail("the name of the file is missing");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].starts_with("hosts=") && parts[i].size() > 6) {
      hosts_path = parts[i].substr(6);
    } else if (parts[i].starts_with("name=") && parts[i].size() > 5) {
      topology = parts[i].substr(5);
    } else if (parts[i].starts_with("thin=")) {
      thinning = spec.parse_capacity(parts[i].substr(5));
    } else {
      spec.fail("\"" + std::string(parts[i]) + "\" is not one of hosts=FILE, thin=T, name=TOPOLOGY");
    }
  }
  const Cluster cluster(read_slurm_file(path, topology));
  const auto host_of_rank = hosts_path.empty() ? all_hosts(cluster) : read_hosts(hosts_path, cluster);
  return cluster.with_ranks(host_of_rank, thinning).build(spec, hosts_path.empty() ? path : hosts_path);
}

}  // namespace nuice::topo
