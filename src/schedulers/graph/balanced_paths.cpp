// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/balanced_paths.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "core/by_size.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice::sched {
namespace {

constexpr std::int64_t most_paths = 64;
constexpr int most_rounds = 8;

class Balancer {
 public:
  Balancer(const CommMatrix& matrix, const Topology& topology)
      : matrix_(matrix),
        topology_(topology),
        unit_(static_cast<double>(std::max<Bytes>(1, lower_bounds(matrix).max_port_bytes))),
        load_(static_cast<std::size_t>(topology.num_links()), 0),
        path_(matrix.num_messages(), no_path) {}

  std::vector<std::int64_t> make() {
    std::vector<MessageId> free;  // messages that have several paths
    for (const MessageId id : core::ids_by_size(matrix_)) {
      if (topology_.num_paths(matrix_.src(id), matrix_.dst(id)) > 1)
        free.push_back(id);
      else
        add(id, no_path, 1);
    }
    for (const MessageId id : free) choose(id);
    for (int round = 1; round < most_rounds && choose_again(free); ++round) {
    }
    return std::move(path_);
  }

 private:
  bool choose_again(std::span<const MessageId> ids) {
    bool moved = false;
    for (const MessageId id : ids) {
      const std::int64_t before = path_[id];
      add(id, before, -1);
      choose(id);
      moved = moved || path_[id] != before;
    }
    return moved;
  }

  /// Chooses the cheapest path. Keeps the current path if it is as cheap.
  void choose(MessageId id) {
    check_interrupt();
    const std::int64_t paths = topology_.num_paths(matrix_.src(id), matrix_.dst(id));
    const std::int64_t tried = std::min(paths, most_paths);
    std::int64_t best = path_[id];
    double least = best == no_path ? std::numeric_limits<double>::infinity() : cost(id, best);
    for (std::int64_t i = 0; i < tried; ++i) {
      // If only some paths are tried, different messages try different paths.
      const std::int64_t path = (i * (paths / tried) + std::int64_t{id} % (paths / tried)) % paths;
      const double here = cost(id, path);
      if (here >= least) continue;
      least = here;
      best = path;
    }
    path_[id] = best;
    add(id, best, 1);
  }

  double cost(MessageId id, std::int64_t path) {
    follow(id, path);
    double sum = 0;
    for (const LinkId link : route_) {
      const double load = load_[static_cast<std::size_t>(link)];
      sum += fourth(load + share(id, link)) - fourth(load);
    }
    return sum;
  }

  void add(MessageId id, std::int64_t path, double sign) {
    follow(id, path);
    for (const LinkId link : route_) load_[static_cast<std::size_t>(link)] += sign * share(id, link);
  }

  void follow(MessageId id, std::int64_t path) {
    route_.clear();
    topology_.append_way(matrix_.src(id), matrix_.dst(id), path, route_);
  }

  /// Returns the message's bytes relative to the busiest port's bytes, divided by the link's capacity.
  double share(MessageId id, LinkId link) const {
    return static_cast<double>(matrix_.bytes(id)) / (unit_ * topology_.link(link).capacity);
  }

  static double fourth(double value) { return value * value * value * value; }

  const CommMatrix& matrix_;
  const Topology& topology_;
  double unit_;
  std::vector<double> load_;  // by link
  std::vector<std::int64_t> path_;
  std::vector<LinkId> route_;
};

}  // namespace

std::vector<std::int64_t> balance_paths(const CommMatrix& matrix, const Topology& topology) {
  return Balancer(matrix, topology).make();
}

}  // namespace nuice::sched
