// SPDX-License-Identifier: BSD-3-Clause
#include "core/link_use.hpp"

#include <algorithm>

#include "core/text/violation_text.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice::core {

void require_ranks(const Topology& topology, Rank num_ranks) {
  if (topology.num_ranks() >= num_ranks) return;
  throw Error(ErrorCode::mismatch, "topology " + topology.name() + " has " +
                                       std::to_string(topology.num_ranks()) + " ranks, the schedule is for " +
                                       std::to_string(num_ranks));
}

std::optional<Violation> LinkUse::find_contention(const Schedule& schedule, PhaseId phase) {
  check_interrupt();
  if (auto violation = find_bad_path(schedule, phase)) return violation;
  collect_crossings(schedule, phase);
  const std::size_t none = crossings_.size();
  std::size_t first = none;
  for (std::size_t begin = 0, end = 0; begin < crossings_.size(); begin = end) {
    while (end < crossings_.size() && crossings_[end].link == crossings_[begin].link) ++end;
    const auto slots = static_cast<std::size_t>(topology_.link(crossings_[begin].link).slots());
    if (end - begin <= slots) continue;
    const std::size_t excess = begin + slots;
    if (first == none || crossings_[excess].transfer < crossings_[first].transfer) first = excess;
  }
  if (first == none) return std::nullopt;
  return describe(schedule, phase, crossings_[first], crossings_[first - 1]);
}

std::optional<Violation> LinkUse::find_bad_path(const Schedule& schedule, PhaseId phase) const {
  if (!schedule.has_paths()) return std::nullopt;
  for (const Transfer& transfer : schedule.transfers(phase)) {
    const std::int64_t paths = topology_.num_paths(transfer.src, transfer.dst);
    if (transfer.path == no_path || (0 <= transfer.path && transfer.path < paths)) continue;
    return at_transfer(ViolationKind::bad_path, phase, transfer.src, transfer.dst,
                       "transfer " + text(transfer.src, transfer.dst) + " takes path " +
                           std::to_string(transfer.path) + ", " + topology_.name() + " has " +
                           std::to_string(paths));
  }
  return std::nullopt;
}

void LinkUse::collect_crossings(const Schedule& schedule, PhaseId phase) {
  crossings_.clear();
  std::size_t index = 0;
  for (const Transfer& transfer : schedule.transfers(phase)) {
    route_.clear();
    topology_.append_way(transfer.src, transfer.dst, transfer.path, route_);
    for (const LinkId link : route_) crossings_.push_back({link, index});
    ++index;
  }
  std::ranges::sort(crossings_);
}

Violation LinkUse::describe(const Schedule& schedule, PhaseId phase, const Crossing& excess,
                            const Crossing& other) const {
  const auto transfers = schedule.transfers(phase);
  const Transfer second = transfers[static_cast<std::ptrdiff_t>(excess.transfer)];
  const Transfer first = transfers[static_cast<std::ptrdiff_t>(other.transfer)];
  const Link link = topology_.link(excess.link);
  const std::string ends = topology_.vertex_name(link.from) + " -> " + topology_.vertex_name(link.to);
  Violation violation =
      at_transfer(ViolationKind::link_contention, phase, second.src, second.dst,
                  "transfers " + text(first.src, first.dst) + " and " + text(second.src, second.dst) +
                      " share link " + std::to_string(excess.link) + " of " + topology_.name() + " (" + ends +
                      "), which carries " + std::to_string(link.slots()) + " at a time");
  violation.link = excess.link;
  violation.other_src = first.src;
  violation.other_dst = first.dst;
  return violation;
}

}  // namespace nuice::core
