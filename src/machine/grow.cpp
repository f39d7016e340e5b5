// SPDX-License-Identifier: BSD-3-Clause
// Enlarges machines: makes the network that an installation of the same kind would have for more ranks.
#include <algorithm>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {
namespace {

using Counts = std::vector<std::int64_t>;

std::int64_t parts_of(std::int64_t all, std::int64_t size) { return (all + size - 1) / size; }

Counts counts_in(const std::string& text) {
  Counts counts;
  for (std::size_t at = 0; at < text.size(); at = text.find_first_of("0123456789", text.find('x', at)))
    counts.push_back(std::stoll(text.substr(at)));
  return counts;
}

std::string joined(const Counts& counts) {
  std::string text;
  for (const std::int64_t count : counts) text += (text.empty() ? "" : "x") + std::to_string(count);
  return text;
}

/// Makes larger networks of the same kind as a machine's network "KIND:ARGUMENTS".
class Grower {
 public:
  Grower(const Machine& machine, std::int64_t hosts, std::int64_t ranks_per_host)
      : machine_(machine), hosts_(hosts), ranks_per_host_(ranks_per_host) {
    const std::string name = machine.topology->name();
    const std::size_t colon = name.find(':');
    kind_ = name.substr(0, colon);
    arguments_ = name.substr(colon + 1);
  }

  std::string spec() const {
    if (kind_ == "crossbar") return crossbar();
    if (kind_ == "fattree") return trees(true);
    if (kind_ == "tree") return trees(false);
    if (kind_ == "dragonfly") return dragonfly();
    fail("a network of the kind " + kind_ + " does not grow");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::invalid_argument, "machine " + machine_.name + ": " + what);
  }

  std::string crossbar() const {
    const std::int64_t hosts = std::max(hosts_, counts_in(arguments_).front());
    if (ranks_per_host_ == 1) return "crossbar:" + std::to_string(hosts);
    return "tree:" + joined({ranks_per_host_, hosts}) + "/" + std::to_string(ranks_per_host_);
  }

  /// Returns the arguments of a larger fattree or tree. In a fattree the top switches may have twice as many
  /// children, because a switch has twice as many ports as children. A full fattree gets another level. In a
  /// tree every subtree has one fat link, so the top level takes any number of children.
  std::string trees(bool of_switches) const {
    const std::size_t slash = arguments_.find('/');
    Counts children = counts_in(arguments_.substr(0, slash));
    Counts thinning = slash == std::string::npos ? Counts() : counts_in(arguments_.substr(slash + 1));
    thinning.resize(children.size() - 1, 1);
    std::int64_t below = 1;  // hosts of a subtree below the top level
    for (std::size_t level = 0; level + 1 < children.size(); ++level) below *= children[level];
    const std::int64_t most = of_switches ? 2 * children.front() : hosts_;
    if (parts_of(hosts_, below) > std::max(most, children.back())) {
      children.back() = children.front();
      thinning.push_back(1);
      below *= children.back();
      if (parts_of(hosts_, below) > most)
        fail("its switches make networks of " + std::to_string(below * most) + " hosts at most, not of " +
             std::to_string(hosts_));
      children.push_back(parts_of(hosts_, below));
    } else {
      children.back() = std::max(children.back(), parts_of(hosts_, below));
    }
    if (ranks_per_host_ > 1) {
      children.insert(children.begin(), ranks_per_host_);
      thinning.insert(thinning.begin(), ranks_per_host_);
    }
    const bool is_thinned = std::ranges::any_of(thinning, [](std::int64_t thin) { return thin > 1; });
    return kind_ + ":" + joined(children) + (is_thinned ? "/" + joined(thinning) : "");
  }

  std::int64_t argument(char name) const {
    const std::size_t at = arguments_.find(std::string(1, name) + "=");
    if (at == std::string::npos) return 0;
    return std::stoll(arguments_.substr(at + 2));
  }

  std::string dragonfly() const {
    if (ranks_per_host_ > 1) fail("hosts with several ranks are not modelled on a dragonfly");
    const std::int64_t in_group = argument('a') * argument('p');
    const std::int64_t most = argument('a') * argument('h') + 1;
    const std::int64_t groups = std::max(argument('g'), parts_of(hosts_, in_group));
    if (groups > most)
      fail("its routers make networks of " + std::to_string(most * in_group) + " hosts at most, not of " +
           std::to_string(hosts_));
    const std::string text = "dragonfly:a=" + std::to_string(argument('a')) +
                             ",h=" + std::to_string(argument('h')) + ",p=" + std::to_string(argument('p')) +
                             ",g=" + std::to_string(groups);
    const std::size_t paths = arguments_.find(",paths=");
    return paths == std::string::npos ? text : text + arguments_.substr(paths);
  }

  const Machine& machine_;
  std::int64_t hosts_;
  std::int64_t ranks_per_host_;
  std::string kind_;
  std::string arguments_;
};

}  // namespace

Machine grown(const Machine& machine, Rank ranks, Rank ranks_per_host) {
  if (ranks_per_host < 1) throw Error(ErrorCode::invalid_argument, "ranks per host: 1 or more");
  if (!machine.grows) {
    if (ranks_per_host == 1) return machine;
    throw Error(ErrorCode::invalid_argument,
                "machine " + machine.name + ": its network is fixed, and so is its number of ranks per host");
  }
  if (machine.topology->num_ranks() >= ranks && ranks_per_host == 1) return machine;
  Machine larger = machine;
  larger.topology = make_topology(Grower(machine, parts_of(ranks, ranks_per_host), ranks_per_host).spec());
  return larger;
}

Machine find_machine(std::string_view name, Rank ranks, Rank ranks_per_host) {
  return grown(find_machine(name), ranks, ranks_per_host);
}

}  // namespace nuice
