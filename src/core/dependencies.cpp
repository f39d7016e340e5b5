// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/dependencies.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "core/link_use.hpp"
#include "nuice/core/error.hpp"

namespace nuice {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// Who used what last, by ranks' ports and links.
class LastUsers {
 public:
  LastUsers(Rank num_ranks, const Topology* topology)
      : out_(static_cast<std::size_t>(num_ranks), nobody), in_(out_), topology_(topology) {
    if (topology != nullptr) links_.assign(static_cast<std::size_t>(topology->num_links()), nobody);
  }

  /// Appends those that a transfer over this route waits for, and puts it in their place.
  void replace(Rank src, Rank dst, std::span<const LinkId> route, std::uint32_t transfer,
               std::vector<std::uint32_t>& before) {
    take(out_[static_cast<std::size_t>(src)], transfer, before);
    take(in_[static_cast<std::size_t>(dst)], transfer, before);
    for (const LinkId link : route) {
      const std::int64_t slots = topology_->link(link).slots();
      if (slots == 1) {
        take(links_[static_cast<std::size_t>(link)], transfer, before);
      } else {
        take_slot(link, static_cast<std::size_t>(slots), transfer, before);
      }
    }
  }

 private:
  static void take(std::uint32_t& last, std::uint32_t transfer, std::vector<std::uint32_t>& before) {
    if (last != nobody) before.push_back(last);
    last = transfer;
  }

  /// Its slots in turn.
  void take_slot(LinkId link, std::size_t slots, std::uint32_t transfer, std::vector<std::uint32_t>& before) {
    Slots& of_link = thick_[link];
    if (of_link.users.size() < slots) {
      of_link.users.push_back(transfer);
      return;
    }
    take(of_link.users[of_link.next], transfer, before);
    of_link.next = (of_link.next + 1) % slots;
  }

  struct Slots {
    std::vector<std::uint32_t> users;
    std::size_t next = 0;
  };
  std::vector<std::uint32_t> out_;  // by rank
  std::vector<std::uint32_t> in_;   // likewise
  const Topology* topology_;
  std::vector<std::uint32_t> links_;  // those with one slot
  std::map<LinkId, Slots> thick_;
};

}  // namespace

Dependencies dependencies(const Schedule& schedule, const Topology* topology,
                          std::span<const std::int64_t> paths) {
  if (topology != nullptr) core::require_ranks(*topology, schedule.num_ranks());
  if (!paths.empty() && paths.size() != schedule.num_transfers()) {
    throw Error(ErrorCode::mismatch, "paths are given for " + std::to_string(paths.size()) +
                                         " transfers, the schedule has " +
                                         std::to_string(schedule.num_transfers()));
  }
  if (schedule.num_transfers() >= nobody) throw Error(ErrorCode::limit, "dependencies of 2^32 transfers");
  LastUsers last(schedule.num_ranks(), topology);
  Dependencies result;
  result.first.reserve(schedule.num_transfers() + 1);
  std::vector<LinkId> route;
  for (std::uint32_t id = 0; id < schedule.num_transfers(); ++id) {
    const Transfer transfer = schedule.transfer(id);
    route.clear();
    if (topology != nullptr && paths.empty()) topology->append_route(transfer.src, transfer.dst, route);
    if (topology != nullptr && !paths.empty())
      topology->append_path(transfer.src, transfer.dst, paths[id], route);
    result.first.push_back(result.before.size());
    last.replace(transfer.src, transfer.dst, route, id, result.before);
    const auto begin = result.before.begin() + static_cast<std::ptrdiff_t>(result.first.back());
    std::sort(begin, result.before.end());
    result.before.erase(std::unique(begin, result.before.end()), result.before.end());
  }
  result.first.push_back(result.before.size());
  return result;
}

}  // namespace nuice
