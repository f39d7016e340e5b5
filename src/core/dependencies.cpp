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

/// The transfer that used a port or link last, and the last transfer of an earlier phase that used the port
/// or link. Transfers of one phase do not wait for each other.
struct Users {
  std::uint32_t last = nobody;
  std::uint32_t earlier = nobody;
};

class LastUsers {
 public:
  LastUsers(Rank num_ranks, const Topology* topology)
      : out_(static_cast<std::size_t>(num_ranks)), in_(out_), topology_(topology) {
    if (topology != nullptr) links_.resize(static_cast<std::size_t>(topology->num_links()));
  }

  /// Appends the transfers for which `transfer` must wait, and records it as the last user of its ports and
  /// links.
  void replace(Rank src, Rank dst, std::span<const LinkId> route, std::uint32_t transfer, PhaseId phase,
               std::vector<std::uint32_t>& before) {
    phase_of_.push_back(phase);
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
  /// Counts a transfer that waits for no other transfer, and for which no other transfer waits.
  void pass(PhaseId phase) { phase_of_.push_back(phase); }

 private:
  void take(Users& users, std::uint32_t transfer, std::vector<std::uint32_t>& before) {
    if (users.last != nobody && phase_of_[users.last] < phase_of_[transfer]) users.earlier = users.last;
    users.last = transfer;
    if (users.earlier != nobody) before.push_back(users.earlier);
  }

  /// Uses the slots of a link alternately.
  void take_slot(LinkId link, std::size_t slots, std::uint32_t transfer, std::vector<std::uint32_t>& before) {
    Slots& of_link = thick_[link];
    if (of_link.users.size() < slots) of_link.users.emplace_back();
    take(of_link.users[of_link.next], transfer, before);
    of_link.next = (of_link.next + 1) % slots;
  }

  struct Slots {
    std::vector<Users> users;
    std::size_t next = 0;
  };
  std::vector<Users> out_;  // by rank
  std::vector<Users> in_;   // by rank
  const Topology* topology_;
  std::vector<Users> links_;  // by link, for links with one slot
  std::map<LinkId, Slots> thick_;
  std::vector<PhaseId> phase_of_;  // by transfer
};

}  // namespace

Dependencies dependencies(const Schedule& schedule, const Topology* topology, Bytes least_bytes) {
  if (topology != nullptr) core::require_ranks(*topology, schedule.num_ranks());
  if (schedule.num_transfers() >= nobody) throw Error(ErrorCode::limit, "dependencies of 2^32 transfers");
  LastUsers last(schedule.num_ranks(), topology);
  Dependencies result;
  result.first.reserve(schedule.num_transfers() + 1);
  std::vector<LinkId> route;
  std::uint32_t id = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer transfer : schedule.transfers(phase)) {
      result.first.push_back(result.before.size());
      if (transfer.bytes() < least_bytes) {
        last.pass(phase);
        ++id;
        continue;
      }
      route.clear();
      if (topology != nullptr) topology->append_way(transfer.src, transfer.dst, transfer.path, route);
      last.replace(transfer.src, transfer.dst, route, id++, phase, result.before);
      const auto begin = result.before.begin() + static_cast<std::ptrdiff_t>(result.first.back());
      std::sort(begin, result.before.end());
      result.before.erase(std::unique(begin, result.before.end()), result.before.end());
    }
  }
  result.first.push_back(result.before.size());
  return result;
}

Notices slice_notices(const Schedule& schedule, const Dependencies& dependencies, Rank rank) {
  struct Ends {
    PhaseId phase;
    Rank src;
    Rank dst;
  };
  std::vector<Ends> ends;
  ends.reserve(schedule.num_transfers());
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    for (const Transfer transfer : schedule.transfers(phase))
      ends.push_back({phase, transfer.src, transfer.dst});
  Notices notices;
  for (std::size_t id = 0; id < ends.size(); ++id) {
    for (const std::uint32_t earlier : dependencies.of(id)) {
      const Ends& first = ends[earlier];
      const Ends& then = ends[id];
      if (first.dst == rank)
        notices.gives.push_back({first.phase, first.src, then.src, then.phase, then.dst});
      if (then.src == rank)
        notices.awaits.push_back({then.phase, then.dst, first.dst, first.phase, first.src});
    }
  }
  return notices;
}

Notices reversed(const Notices& notices, PhaseId num_phases) {
  Notices result{notices.awaits, notices.gives};
  for (auto* const side : {&result.gives, &result.awaits}) {
    for (Notice& notice : *side) {
      notice.phase = num_phases - 1 - notice.phase;
      notice.peer_phase = num_phases - 1 - notice.peer_phase;
    }
  }
  return result;
}

}  // namespace nuice
