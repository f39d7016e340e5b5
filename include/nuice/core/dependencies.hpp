// SPDX-License-Identifier: BSD-3-Clause
// Which transfers of a schedule must be through before another one may start: of every port and every link on its way,
// the one that used it last. That is what the executor `depend` waits for, in place of whole phases.
//
//   const Dependencies before = dependencies(schedule, topology);
//   for (const std::uint32_t id : before.of(7)) ...       // transfers that transfer 7 waits for
//
// No cycle is possible: a transfer waits for such of earlier phases only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

/// Executor depend: bytes that a message has left when its successors are notified. About what a port of 200 Gbit/s
/// carries during two latencies; with more, two transfers overlap on a link.
inline constexpr Bytes default_early_bytes = 49152;

struct Dependencies {
  std::vector<std::size_t> first;     ///< By transfer, and one more: index into `before`.
  std::vector<std::uint32_t> before;  ///< Transfers, ascending for each.

  std::span<const std::uint32_t> of(std::size_t transfer) const {
    return std::span(before).subspan(first[transfer], first[transfer + 1] - first[transfer]);
  }
};

/// Of all transfers, in the order of the schedule. A link with k slots() lets k of them cross at a time; without a
/// topology ports count alone. Transfers of less than least_bytes neither wait nor are waited for: notices would cost more than they bring.
/// Throws Error mismatch if the topology has fewer ranks than the schedule; limit for 2^32 transfers or more. O(transfers * links of a route), 4 bytes per link and dependency.
Dependencies dependencies(const Schedule& schedule, const Topology* topology, Bytes least_bytes = 0);

/// A notice, as one of its two ranks sees it: that it receives (phase, from partner), which peer awaits before it sends
/// (peer_phase, to peer_partner); or, where it awaits it, that it sends (phase, to partner) when peer has received
/// (peer_phase, from peer_partner).
struct Notice {
  PhaseId phase;
  Rank partner;
  Rank peer;
  PhaseId peer_phase;
  Rank peer_partner;
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// One rank's slice of the dependencies, as PhaseTable is of the schedule. A rank may be its own peer.
struct Notices {
  std::vector<Notice> gives;
  std::vector<Notice> awaits;
};

/// The slice of a rank. O(transfers + dependencies).
Notices slice_notices(const Schedule& schedule, const Dependencies& dependencies, Rank rank);

/// The same rank's slice of the exchange backwards (see PhaseTable): what waited for another is now waited for.
Notices reversed(const Notices& notices, PhaseId num_phases);

}  // namespace nuice
