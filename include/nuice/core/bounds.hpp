// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds for all schedules on a machine whose ranks send one and receive one message at a time.
#pragma once

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

enum class Direction { send, receive };

/// The rank and direction in which a bound is reached (the first one, sending before receiving).
struct Busiest {
  Rank rank = no_rank;  ///< no_rank for a matrix without messages.
  Direction direction = Direction::send;
};

struct Bounds {
  MessageId max_degree = 0;  ///< Most messages that a rank sends or receives: no schedule has fewer phases.
  Busiest max_degree_at;
  Bytes max_port_bytes =
      0;  ///< Most bytes that a rank sends or receives: no schedule has fewer phase_bytes().
  Busiest max_port_bytes_at;
  Bytes total_bytes = 0;  ///< Over all messages between different ranks.
};

/// O(num_ranks + messages).
Bounds lower_bounds(const CommMatrix& matrix);

/// No schedule of whole messages has fewer phase_bytes():
///
///   W = sum over k = 1 .. max_degree of the largest k-th-largest message of any rank, sent or received
///
/// The k largest messages of a rank go in k phases, so the k-th largest phase maximum is no smaller than the k-th
/// largest message of any rank. max_port_bytes <= W, since W takes at least the busiest rank's message for every k.
/// Schedules that split messages may go below W, down to max_port_bytes.
/// Not part of Bounds because it takes longer: O(m log m) time, 20 bytes per message.
Bytes whole_message_bytes(const CommMatrix& matrix);

/// Lower bounds for direct schedules without link contention, from the busiest link.
struct LinkBounds {
  /// Messages over a link divided by its slots, rounded up. There are no fewer phases, because each message
  /// crosses the link in some phase, and at most slots() messages do so in the same phase.
  std::int64_t phases = 0;
  LinkId phases_at = no_link;  ///< The first such link; no_link if no route has links.
  /// Bytes over a link divided by its slots, rounded up: no fewer phase_bytes().
  Bytes bytes = 0;
  LinkId bytes_at = no_link;
};

/// O(lengths of all routes + num_links) time, 16 bytes per link.
/// Throws Error mismatch if the topology has fewer ranks than the matrix.
LinkBounds link_bounds(const CommMatrix& matrix, const Topology& topology);

/// How many phases a schedule takes if transfers that share a link wait for each other:
///
///   sum over phases of max(1, most transfers over a link / its slots, rounded up)
///
/// num_phases() for a schedule without link contention; never less than LinkBounds::phases for a direct one.
/// Throws Error mismatch if the topology has fewer ranks than the schedule, invalid_argument for a transfer
/// whose ends are invalid ranks. O(lengths of all routes + num_links).
std::int64_t link_rounds(const Schedule& schedule, const Topology& topology);

}  // namespace nuice
