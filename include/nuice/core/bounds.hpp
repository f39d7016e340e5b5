// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds for all schedules on a machine whose ranks send one and receive one message at a time.
#pragma once

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

enum class Direction { send, receive };

/// A rank and a direction that reach a bound. If several ranks reach the bound, this is the lowest of them.
/// If it reaches the bound in both directions, the direction is sending.
struct Busiest {
  Rank rank = no_rank;  ///< The rank; no_rank for a matrix without messages.
  Direction direction = Direction::send;
};

struct Bounds {
  /// The maximum number of messages that a rank sends or receives. No direct one_port schedule has fewer
  /// phases.
  MessageId max_degree = 0;
  Busiest max_degree_at;
  /// The maximum number of bytes that a rank sends or receives. No one_port schedule has fewer phase_bytes().
  Bytes max_port_bytes = 0;
  Busiest max_port_bytes_at;
  Bytes total_bytes = 0;  ///< The sum of the sizes of all messages between different ranks.
};

/// Returns bounds for all one_port schedules of the matrix. O(num_ranks + messages).
Bounds lower_bounds(const CommMatrix& matrix);

/// Returns a lower bound W of phase_bytes() for schedules of whole messages:
///
///   W = sum over k = 1 .. max_degree of (maximum over all ranks of a rank's k-th-largest message)
///
/// The messages that a rank sends and the messages that it receives are two separate lists. The k largest
/// messages of a list travel in k different phases. So if phases are sorted by their largest transfers, the
/// k-th of these transfers is at least as large as the k-th-largest message of any list. W is never below
/// max_port_bytes, because each term of the sum is at least as large as the k-th-largest message of the
/// busiest rank. Schedules that split messages may have fewer phase_bytes() than W, but never fewer than
/// max_port_bytes.
/// W is not a member of Bounds because it takes longer to compute: O(m log m) time, 20 bytes per message.
Bytes whole_message_bytes(const CommMatrix& matrix);

/// Lower bounds for direct schedules without link contention, computed from the busiest link.
struct LinkBounds {
  /// A lower bound on the number of phases: the number of messages over a link divided by Link::slots(),
  /// rounded up. The reason: at most slots() messages may cross a link in the same phase.
  std::int64_t phases = 0;
  LinkId phases_at = no_link;  ///< The first link that reaches `phases`; no_link if no route has links.
  /// A lower bound on phase_bytes(): the number of bytes over a link divided by Link::slots(), rounded up.
  Bytes bytes = 0;
  LinkId bytes_at = no_link;
};

/// Returns bounds from the busiest link. O(lengths of all routes + num_links) time, 16 bytes per link. Throws
/// Error with code `mismatch` if the topology has fewer ranks than the matrix.
LinkBounds link_bounds(const CommMatrix& matrix, const Topology& topology);

/// Returns how many phases a schedule takes if transfers that share a link wait for each other:
///
///   sum over all phases of max(1, maximum over all links of transfers / slots, rounded up)
///
/// Equals num_phases() if the schedule has no link contention. For direct schedules it is never below
/// LinkBounds::phases. Throws Error with code `mismatch` if the topology has fewer ranks than the schedule,
/// `invalid_argument` for a transfer between invalid ranks. O(lengths of all routes + num_links).
std::int64_t link_rounds(const Schedule& schedule, const Topology& topology);

}  // namespace nuice
