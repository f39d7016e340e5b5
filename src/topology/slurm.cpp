// SPDX-License-Identifier: BSD-3-Clause
// slurm:FILE, the switches of a cluster as Slurm's topology.conf lists them (slurm.schedmd.com/topology.conf.html, plugin
// topology/tree):
//
//   SwitchName=leaf0 Nodes=n[0-15]
//   SwitchName=leaf1 Nodes=n[16-31]
//   SwitchName=spine Switches=leaf[0-1]
//
// Ranks are the hosts in the order of the file, or those of hosts=FILE2, one line per host: "NAME" or "NAME slots=K", in
// the order of ranks. A host with several ranks has one cable that they share; one with a single rank hangs on its switch.
// Slurm's file does not say how thick cables between switches are: thin=T makes the cables of a switch upwards carry,
// together, a T-th of the hosts below it (1 by default: nothing is thinned).
#include <algorithm>
#include <map>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"
#include "topology/graph.hpp"
#include "topology/host_list.hpp"
#include "topology/kinds.hpp"

namespace nuice::topo {
namespace {

using Names = std::vector<std::string>;

constexpr int most_levels = 1000;

struct SlurmSwitch {
  std::string name;
  Names hosts;
  Names children;
  std::string where;  // "FILE:LINE"
  std::vector<std::size_t> parents;
  std::int64_t num_hosts = -1;  // below it; -1: not known yet, -2: being counted
};

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

[[noreturn]] void fail_at(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::parse, where + ": " + what);
}

/// Reads the lines; a backslash at the end of one joins the next to it.
class SlurmReader {
 public:
  SlurmReader(std::istream& in, std::string name) : lines_(in, name), name_(std::move(name)) {}

  std::vector<SlurmSwitch> read() {
    std::vector<SlurmSwitch> switches;
    for (std::string text; next(text);) {
      const auto words = core::split_words(text);
      if (!words.empty()) switches.push_back(parse(words));
    }
    return switches;
  }

 private:
  bool next(std::string& text) {
    text.clear();
    std::string line;
    bool any = false;
    for (bool more = true; more && lines_.next(line);) {
      if (!any) where_ = name_ + ":" + std::to_string(lines_.line_number());
      any = true;
      line.erase(std::min(line.find('#'), line.size()));
      more = !line.empty() && line.back() == '\\';
      if (more) line.pop_back();
      text += line;
      if (text.size() > core::LineReader::longest_line)
        lines_.fail(ErrorCode::limit, "too many lines joined");
    }
    return any;
  }

  SlurmSwitch parse(const std::vector<std::string_view>& words) const {
    SlurmSwitch result;
    result.where = where_;
    for (const std::string_view word : words) {
      const std::size_t equals = word.find('=');
      const std::string key = lower(word.substr(0, equals));
      const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
      if (key == "switchname") {
        result.name = value;
      } else if (key == "nodes") {
        expand(value, result.hosts);
      } else if (key == "switches") {
        expand(value, result.children);
      } else if (key != "linkspeed") {  // which Slurm reads and does not use
        fail_at(where_,
                "\"" + std::string(word) + "\" is none of SwitchName=, Nodes=, Switches=, LinkSpeed=");
      }
    }
    if (result.name.empty()) fail_at(where_, "SwitchName= is missing");
    if (result.hosts.empty() && result.children.empty()) {
      fail_at(where_, "switch \"" + result.name + "\" has neither Nodes= nor Switches=");
    }
    return result;
  }

  void expand(std::string_view value, Names& names) const {
    if (const std::string reason = expand_host_list(value, names); !reason.empty()) fail_at(where_, reason);
  }

  core::LineReader lines_;
  std::string name_;
  std::string where_;  // where the present entry begins
};

/// What the switches say together.
class Cluster {
 public:
  explicit Cluster(std::vector<SlurmSwitch> switches) : switches_(std::move(switches)) {
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const SlurmSwitch& here = switches_[i];
      const auto [found, is_new] = switch_of_name_.try_emplace(here.name, i);
      if (!is_new) {
        fail_at(here.where,
                "switch \"" + here.name + "\" is described at " + switches_[found->second].where + " too");
      }
      for (const std::string& host : here.hosts) {
        const auto [place, is_new_host] = switch_of_host_.try_emplace(host, i);
        if (!is_new_host) {
          fail_at(here.where, "host \"" + host + "\" hangs on \"" + switches_[place->second].name + "\" too");
        }
        hosts_.push_back(host);
      }
    }
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      for (const std::string& child : switches_[i].children) {
        const auto found = switch_of_name_.find(child);
        if (found == switch_of_name_.end())
          fail_at(switches_[i].where, "no switch is called \"" + child + "\"");
        switches_[found->second].parents.push_back(i);
      }
    }
    for (std::size_t i = 0; i < switches_.size(); ++i) count_hosts(i, 1);
  }

  const Names& hosts() const { return hosts_; }
  bool knows(const std::string& host) const { return switch_of_host_.contains(host); }

  GraphBuilder with_ranks(const Names& host_of_rank, double thinning) const {
    GraphBuilder graph;
    std::map<std::string, std::vector<GraphBuilder::Vertex>> ranks_of;
    Names used;  // in the order of their first rank
    for (const std::string& host : host_of_rank) {
      auto& ranks = ranks_of[host];
      if (ranks.empty()) used.push_back(host);
      ranks.push_back(graph.add_rank(host));
    }
    std::vector<GraphBuilder::Vertex> vertex_of;
    for (const SlurmSwitch& here : switches_) vertex_of.push_back(graph.add_switch(here.name));
    for (const std::string& host : used) {
      const GraphBuilder::Vertex leaf = vertex_of[switch_of_host_.at(host)];
      const auto& ranks = ranks_of[host];
      const GraphBuilder::Vertex hook = ranks.size() == 1 ? ranks.front() : graph.add_switch(host);
      graph.add_cable(hook, leaf, 1);
      if (ranks.size() == 1) continue;
      for (const GraphBuilder::Vertex rank : ranks) graph.add_cable(rank, hook, 1);
    }
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const SlurmSwitch& here = switches_[i];
      const double together = static_cast<double>(std::max<std::int64_t>(here.num_hosts, 1)) / thinning;
      for (const std::size_t parent : here.parents) {
        graph.add_cable(vertex_of[i], vertex_of[parent], together / static_cast<double>(here.parents.size()));
      }
    }
    return graph;
  }

 private:
  /// Hosts below a switch; those below two of its children count twice.
  std::int64_t count_hosts(std::size_t i, int depth) {
    SlurmSwitch& here = switches_[i];
    if (here.num_hosts == -2) fail_at(here.where, "switch \"" + here.name + "\" is below itself");
    if (here.num_hosts >= 0) return here.num_hosts;
    if (depth > most_levels)
      fail_at(here.where, "more than " + std::to_string(most_levels) + " levels of switches");
    here.num_hosts = -2;
    auto sum = static_cast<std::int64_t>(here.hosts.size());
    for (const std::string& child : here.children) {
      sum = std::min(max_vertices, sum + count_hosts(switch_of_name_.at(child), depth + 1));
    }
    return here.num_hosts = sum;
  }

  std::vector<SlurmSwitch> switches_;
  std::map<std::string, std::size_t> switch_of_name_;
  std::map<std::string, std::size_t> switch_of_host_;
  Names hosts_;
};

Names read_hosts(const std::string& path, const Cluster& cluster) {
  core::UnpackedFile in(path);
  core::LineReader lines(in, path);
  Names hosts;
  for (std::string line; lines.next(line);) {
    const auto words = core::split_words(std::string_view(line).substr(0, line.find('#')));
    if (words.empty()) continue;
    const std::string host(words[0]);
    if (!cluster.knows(host)) lines.fail("no switch has a host \"" + host + "\"");
    std::int64_t slots = 1;
    const bool good = words.size() == 1 || (words.size() == 2 && words[1].starts_with("slots=") &&
                                            core::parse_number(words[1].substr(6), slots) && slots > 0);
    if (!good) lines.fail(R"(expected "HOST" or "HOST slots=K")");
    if (static_cast<std::int64_t>(hosts.size()) + slots > max_vertices)
      lines.fail(ErrorCode::limit, "too many ranks");
    hosts.insert(hosts.end(), static_cast<std::size_t>(slots), host);
  }
  return hosts;
}

}  // namespace

Made make_from_slurm(const Spec& spec) {
  std::string hosts_path;
  double thinning = 1;
  const auto parts = split_at(spec.arguments, ',');
  const std::string path(parts[0]);
  if (path.empty()) spec.fail("the name of the file is missing");
  if (path.ends_with(".yaml"))
    spec.fail("a topology.yaml is read once it is a topology.conf: nuice export slurm " + path + " -o FILE");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].starts_with("hosts=") && parts[i].size() > 6) {
      hosts_path = parts[i].substr(6);
    } else if (parts[i].starts_with("thin=")) {
      thinning = spec.parse_capacity(parts[i].substr(5));
    } else {
      spec.fail("\"" + std::string(parts[i]) + "\" is neither hosts=FILE nor thin=T");
    }
  }
  core::UnpackedFile in(path);
  const Cluster cluster(SlurmReader(in, path).read());
  const Names host_of_rank = hosts_path.empty() ? cluster.hosts() : read_hosts(hosts_path, cluster);
  return cluster.with_ranks(host_of_rank, thinning).build(spec, hosts_path.empty() ? path : hosts_path);
}

}  // namespace nuice::topo
