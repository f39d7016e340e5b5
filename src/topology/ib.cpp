// SPDX-License-Identifier: BSD-3-Clause
// ib:DIR[,hosts=FILE], an InfiniBand fabric with its real cables and routes (ib_files.hpp).
//
// Ranks are the ports of all channel adapters by ascending LID, or the ports that the lines of hosts=FILE
// name. A line has a LID ("21", "0x15"), an adapter's description ("host12 HCA-1") or the first word of a
// description ("host12"), and optionally "slots=K". A rank can always find out its LID:
// /sys/class/infiniband/*/ports/1/lid. If several ranks use a port, they share its cable in both directions.
// If only one rank uses a port, the cable is the rank's port and not a link.
//
// A route follows the switches' tables to the port's first LID. With LMC > 0 a port has 2^LMC LIDs, each with
// its own route; these routes are the paths. The capacity of a link is its speed divided by the speed of the
// slowest port of a rank. Tools that are older than the fabric write "4x???" as speed. If no speed is known
// at all, all links are assumed to be equally fast.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/text/file_io.hpp"
#include "core/text/unpacked_file.hpp"
#include "nuice/core/error.hpp"
#include "topology/ib_files.hpp"
#include "topology/kinds.hpp"

namespace nuice::topo {
namespace {

constexpr int most_hops = 64;

struct Fabric {
  struct Switch {
    std::string name;
    std::vector<std::uint8_t> port;  // by LID
    std::vector<LinkId> link;        // by port; no_link if it leads to no switch
  };
  std::vector<Switch> switches;
  std::vector<Link> links;
  std::vector<IbHostPort> port_of_rank;
  std::vector<std::int32_t> leaf_of_rank;  // index of its switch
  // For each rank: the link from a cable that several ranks share into the fabric, or no_link. The reverse
  // link comes next.
  std::vector<LinkId> out_of_rank;
  std::vector<std::string> shared_names;  // names of hosts whose ranks share a cable
};

class IbFabric final : public NamedTopology {
 public:
  IbFabric(const Spec& spec, Fabric fabric)
      : NamedTopology(spec, std::ssize(fabric.port_of_rank), std::ssize(fabric.links)),
        fabric_(std::move(fabric)) {}

  Link link(LinkId id) const override { return fabric_.links[static_cast<std::size_t>(id)]; }

  std::int64_t num_paths(Rank /*src*/, Rank dst) const override {
    return std::int64_t{1} << fabric_.port_of_rank[static_cast<std::size_t>(dst)].lmc;
  }

  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    append_path(src, dst, 0, route);
  }

  void append_path(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const override {
    const auto from = static_cast<std::size_t>(src);
    const auto to = static_cast<std::size_t>(dst);
    const IbHostPort& port = fabric_.port_of_rank[to];
    if (port.lid == fabric_.port_of_rank[from].lid) return;
    if (fabric_.out_of_rank[from] != no_link) route.push_back(fabric_.out_of_rank[from]);
    const auto lid = static_cast<std::size_t>(port.lid + path);
    for (std::int32_t at = fabric_.leaf_of_rank[from]; at != fabric_.leaf_of_rank[to];) {
      const Fabric::Switch& here = fabric_.switches[static_cast<std::size_t>(at)];
      route.push_back(here.link[here.port[lid]]);
      at = link(route.back()).to - num_ranks();
    }
    if (fabric_.out_of_rank[to] != no_link) route.push_back(fabric_.out_of_rank[to] + 1);
  }

  std::string vertex_name(std::int32_t vertex) const override {
    if (vertex < num_ranks())
      return "rank " + std::to_string(vertex) + ", " +
             fabric_.port_of_rank[static_cast<std::size_t>(vertex)].description;
    const auto place = static_cast<std::size_t>(vertex - num_ranks());
    return place < fabric_.switches.size() ? fabric_.switches[place].name
                                           : fabric_.shared_names[place - fabric_.switches.size()];
  }

 private:
  Fabric fabric_;
};

/// Returns the ports with the given LID, or with the given words in their description.
std::vector<std::size_t> ports_of(const std::string& name, const IbFiles& files,
                                  const std::map<std::string, std::vector<std::size_t>>& by_name) {
  int lid = 0;
  const bool is_lid = name.starts_with("0x") ? core::parse_number(std::string_view(name).substr(2), lid, 16)
                                             : core::parse_number(name, lid);
  if (!is_lid) {
    const auto known = by_name.find(name);
    return known != by_name.end() ? known->second : std::vector<std::size_t>();
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < files.ports.size(); ++i) {
    const IbHostPort& port = files.ports[i];
    if (port.lid <= lid && lid < port.lid + (1 << port.lmc)) found.push_back(i);
  }
  return found;
}

/// Returns the ports that the lines of a file name. Each port occurs as often as its slots say.
std::vector<IbHostPort> read_ranks(const std::string& path, const IbFiles& files) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < files.ports.size(); ++i) {
    const std::string& all = files.ports[i].description;
    const auto words = core::split_words(all);
    by_name[all].push_back(i);
    if (words.size() > 1) by_name[std::string(words[0])].push_back(i);
  }
  core::UnpackedFile in(path);
  core::LineReader lines(in, path);
  std::vector<IbHostPort> ranks;
  for (std::string line; lines.next(line);) {
    auto words = core::split_words(std::string_view(line).substr(0, line.find('#')));
    if (words.empty()) continue;
    std::int64_t slots = 1;
    if (words.back().starts_with("slots=")) {
      if (!core::parse_number(words.back().substr(6), slots) || slots < 1)
        lines.fail("\"" + std::string(words.back()) + "\" is not slots=K");
      words.pop_back();
    }
    std::string name;
    for (const std::string_view word : words) name += (name.empty() ? "" : " ") + std::string(word);
    const std::vector<std::size_t> found = ports_of(name, files, by_name);
    if (found.empty()) lines.fail("no port in " + files.cables_file + " is that of \"" + name + "\"");
    if (found.size() > 1)
      lines.fail("\"" + name + "\" has several ports in " + files.cables_file + ": say which by its LID");
    if (std::ssize(ranks) + slots > max_vertices) lines.fail(ErrorCode::limit, "too many ranks");
    ranks.insert(ranks.end(), static_cast<std::size_t>(slots), files.ports[found.front()]);
  }
  if (ranks.empty()) throw Error(ErrorCode::parse, path + ": there are no ranks");
  return ranks;
}

class Maker {
 public:
  Maker(IbFiles files, std::vector<IbHostPort> ranks) : files_(std::move(files)) {
    fabric_.port_of_rank = std::move(ranks);
    num_ranks_ = static_cast<std::int32_t>(fabric_.port_of_rank.size());
  }

  Fabric make() {
    for (const auto& [id, from] : files_.switches) {
      number_of_[id] = static_cast<std::int32_t>(fabric_.switches.size());
      fabric_.switches.push_back({from.name, from.port, std::vector<LinkId>(256, no_link)});
    }
    find_port_speed();
    for (const auto& [id, from] : files_.switches) lay_cables(number_of_[id], from);
    place_ranks();
    for (const auto& [id, from] : files_.switches) require_ways(number_of_[id]);
    return std::move(fabric_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::parse, files_.tables_file + ": " + what);
  }

  /// Finds the speed of the slowest port of a rank; 0 if the files contain no speed.
  void find_port_speed() {
    double fastest = 0;
    for (const auto& [id, from] : files_.switches)
      for (const auto& [port, cable] : from.cables) fastest = std::max(fastest, cable.gbit_s);
    if (fastest == 0) return;
    port_gbit_s_ = std::numeric_limits<double>::infinity();
    for (const IbHostPort& port : fabric_.port_of_rank) {
      if (port.gbit_s == 0) fail_speed("\"" + port.description + "\"");
      port_gbit_s_ = std::min(port_gbit_s_, port.gbit_s);
    }
  }

  [[noreturn]] void fail_speed(const std::string& port) const {
    throw Error(ErrorCode::parse, files_.cables_file + ": the speed of the link at " + port +
                                      " is not known, while others are; expected words like 4xHDR");
  }

  double capacity(double gbit_s) const { return port_gbit_s_ > 0 ? gbit_s / port_gbit_s_ : 1; }

  void lay_cables(std::int32_t from, const IbSwitch& cables) {
    for (const auto& [port, cable] : cables.cables) {
      const auto to = number_of_.find(cable.peer);
      if (to == number_of_.end() || port < 0 || port > 254) continue;
      fabric_.switches[static_cast<std::size_t>(from)].link[static_cast<std::size_t>(port)] =
          static_cast<LinkId>(fabric_.links.size());
      if (port_gbit_s_ > 0 && cable.gbit_s == 0)
        fail_speed("\"" + cables.name + "\", port " + std::to_string(port));
      fabric_.links.push_back({num_ranks_ + from, num_ranks_ + to->second, capacity(cable.gbit_s)});
    }
  }

  void place_ranks() {
    std::map<int, std::vector<Rank>> ranks_of;  // by LID
    for (Rank rank = 0; rank < num_ranks_; ++rank) {
      const IbHostPort& port = fabric_.port_of_rank[static_cast<std::size_t>(rank)];
      const auto leaf = number_of_.find(port.leaf);
      if (leaf == number_of_.end())
        throw Error(ErrorCode::parse, files_.cables_file + ": \"" + port.description + "\" hangs on " +
                                          port.leaf + ", which is not a switch");
      fabric_.leaf_of_rank.push_back(leaf->second);
      ranks_of[port.lid].push_back(rank);
    }
    fabric_.out_of_rank.assign(static_cast<std::size_t>(num_ranks_), no_link);
    for (const auto& [lid, ranks] : ranks_of) {
      if (ranks.size() == 1) continue;
      const IbHostPort& port = fabric_.port_of_rank[static_cast<std::size_t>(ranks.front())];
      const auto host = static_cast<std::int32_t>(static_cast<std::size_t>(num_ranks_) +
                                                  fabric_.switches.size() + fabric_.shared_names.size());
      fabric_.shared_names.push_back(port.description);
      const std::int32_t leaf = num_ranks_ + fabric_.leaf_of_rank[static_cast<std::size_t>(ranks.front())];
      for (const Rank rank : ranks)
        fabric_.out_of_rank[static_cast<std::size_t>(rank)] = static_cast<LinkId>(fabric_.links.size());
      fabric_.links.push_back({host, leaf, capacity(port.gbit_s)});
      fabric_.links.push_back({leaf, host, capacity(port.gbit_s)});
    }
  }

  /// Throws if the switch `from` has no route to a LID of the ranks' ports.
  void require_ways(std::int32_t from) const {
    for (std::size_t rank = 0; rank < fabric_.port_of_rank.size(); ++rank) {
      const IbHostPort& port = fabric_.port_of_rank[rank];
      for (int lid = port.lid; lid < port.lid + (1 << port.lmc); ++lid) {
        std::int32_t at = from;
        for (int hops = 0; at != fabric_.leaf_of_rank[rank]; ++hops) {
          const Fabric::Switch& here = fabric_.switches[static_cast<std::size_t>(at)];
          const auto place = static_cast<std::size_t>(lid);
          const LinkId next = place < here.port.size() ? here.link[here.port[place]] : no_link;
          if (next == no_link || hops == most_hops) {
            fail("from switch \"" + fabric_.switches[static_cast<std::size_t>(from)].name +
                 "\" no route leads to \"" + port.description + "\" (LID " + std::to_string(lid) +
                 "): it ends at \"" + here.name + "\"");
          }
          at = fabric_.links[static_cast<std::size_t>(next)].to - num_ranks_;
        }
      }
    }
  }

  IbFiles files_;
  Fabric fabric_;
  std::int32_t num_ranks_ = 0;
  std::map<std::string, std::int32_t> number_of_;
  double port_gbit_s_ = 0;
};

}  // namespace

Made make_from_ib(const Spec& spec) {
  const auto parts = split_at(spec.arguments, ',');
  if (parts[0].empty()) spec.fail("the name of the folder is missing");
  std::string hosts_path;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!parts[i].starts_with("hosts=") || parts[i].size() == 6)
      spec.fail("\"" + std::string(parts[i]) + "\" is not hosts=FILE");
    hosts_path = parts[i].substr(6);
  }
  IbFiles files = read_ib_files(std::string(parts[0]));
  std::vector<IbHostPort> ranks = hosts_path.empty() ? files.ports : read_ranks(hosts_path, files);
  spec.check_size(std::ssize(ranks) + std::ssize(files.switches), 0);
  return std::make_unique<IbFabric>(spec, Maker(std::move(files), std::move(ranks)).make());
}

}  // namespace nuice::topo
