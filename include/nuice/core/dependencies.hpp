// SPDX-License-Identifier: BSD-3-Clause
// Dependencies: for each transfer of a schedule, the transfers that must complete before it may start. For
// each port and link of its route, this is the last transfer of an earlier phase that uses the same port or
// link. The executor `depend` waits for these transfers instead of whole phases.
//
//   const Dependencies before = dependencies(schedule, topology);
//   for (const std::uint32_t id : before.of(7)) ...       // the transfers for which transfer 7 waits
//
// There are no cycles, because a transfer waits only for transfers of earlier phases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

/// The number of bytes of a message that are not yet sent when its successors are notified (executor depend).
/// A port of 200 Gbit/s carries about as many bytes during two latencies. With a larger number, two transfers
/// overlap on a link.
inline constexpr Bytes default_early_bytes = 49152;

struct Dependencies {
  /// For each transfer, the index of its first entry in `before`; the last entry is before.size().
  std::vector<std::size_t> first;
  /// For each transfer, the transfers that must complete first, in ascending order.
  std::vector<std::uint32_t> before;

  std::span<const std::uint32_t> of(std::size_t transfer) const {
    return std::span(before).subspan(first[transfer], first[transfer + 1] - first[transfer]);
  }
};

/// Returns the dependencies of all transfers, in the order of the schedule. A link with k slots() carries k
/// transfers at a time; without a topology only ports count. Transfers of fewer than least_bytes bytes do not
/// wait, and no transfer waits for them, because the notifications would cost more than they gain. Throws
/// Error with code `mismatch` if the topology has fewer ranks than the schedule; `limit` for 2^32 transfers
/// or more. O(transfers * links of a route) time, 4 bytes per link and dependency.
Dependencies dependencies(const Schedule& schedule, const Topology* topology, Bytes least_bytes = 0);

/// A notification (notice) as one of its two ranks sees it. `partner` and `phase` describe a transfer of this
/// rank; `peer`, peer_partner and peer_phase describe a transfer of the other rank. For the rank that sends
/// the notice: it has received from `partner` in `phase`, and `peer` waits for the notice before it sends to
/// peer_partner in peer_phase. For the rank that awaits the notice: it sends to `partner` in `phase` when
/// `peer` has received from peer_partner in peer_phase.
struct Notice {
  PhaseId phase;
  Rank partner;
  Rank peer;
  PhaseId peer_phase;
  Rank peer_partner;
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// One rank's slice of the dependencies, for use with its PhaseTable. A rank may be its own peer.
struct Notices {
  std::vector<Notice> gives;
  std::vector<Notice> awaits;
};

/// Returns one rank's slice of the dependencies. O(transfers + dependencies).
Notices slice_notices(const Schedule& schedule, const Dependencies& dependencies, Rank rank);

/// Returns the same rank's slice for the reverse exchange (see PhaseTable), in which every dependency is
/// reversed.
Notices reversed(const Notices& notices, PhaseId num_phases);

}  // namespace nuice
