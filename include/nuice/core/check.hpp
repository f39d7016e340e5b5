// SPDX-License-Identifier: BSD-3-Clause
// The only checker of schedules. It shares no code with any scheduler and assumes nothing about a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

/// The guarantees that a schedule may have. Delivery (every byte of every message arrives exactly once) is
/// always guaranteed.
enum Guarantee : unsigned {
  direct = 1U << 0,    ///< Every transfer goes from the source of a message directly to its destination.
  one_port = 1U << 1,  ///< Every phase is a partial permutation: no node contention (NICE s.2.1).
  /// The number of phases is the maximum degree; no direct one_port schedule has fewer phases.
  fewest_phases = 1U << 2,
  /// phase_bytes() is the number of bytes of the busiest rank; no one_port schedule has fewer.
  fewest_bytes = 1U << 3,
  /// No phase has link contention on a given network (000 s.2.1): in no phase does a link carry more
  /// transfers than Link::slots().
  link_free = 1U << 4,
};

/// Returns the names of the flags, such as "direct one_port"; empty for no flags.
std::string guarantee_names(unsigned guarantees);
/// Returns the flag with that name. Throws Error with code `invalid_argument` for an unknown name; the text
/// lists the known names.
Guarantee find_guarantee(std::string_view name);

enum class ViolationKind {
  bad_rank,       ///< The source or destination of a transfer is not a rank of the matrix.
  bad_piece,      ///< A piece belongs to no message, lies outside its message, or has no bytes.
  self_transfer,  ///< A transfer goes from a rank to itself.
  two_sends,      ///< A rank sends twice in a phase (one_port).
  two_receives,   ///< A rank receives twice in a phase (one_port).
  not_direct,     ///< A transfer does not go from its message's source to its destination (direct).
  not_held,  ///< A rank sends bytes that it does not yet have or no longer has (because it sent them before).
  not_delivered,    ///< Bytes are not at their destination after the last phase.
  too_many_phases,  ///< There are more phases than the maximum degree (fewest_phases).
  too_many_bytes,   ///< phase_bytes() is more than the busiest rank sends or receives (fewest_bytes).
  link_contention,  ///< More transfers of a phase cross a link than it has slots (link_free).
  bad_path,         ///< A transfer has a path that the network does not have (link_free).
  wrong_num_ranks,  ///< Schedule and matrix have different numbers of ranks.
};
std::string_view violation_name(ViolationKind kind);

/// The kind and the place of a fault. Members that do not apply are no_rank, no_link or 0.
struct Violation {
  ViolationKind kind;
  PhaseId phase = 0;
  Rank src = no_rank;  ///< The source of the transfer at fault; dst is its destination.
  Rank dst = no_rank;
  Rank message_src = no_rank;  ///< The source of the message at fault; message_dst is its destination.
  Rank message_dst = no_rank;
  Bytes offset = 0;  ///< The first byte at fault, counted from the start of the message.
  Bytes bytes = 0;
  LinkId link = no_link;     ///< The link that has too many transfers.
  Rank other_src = no_rank;  ///< The source of an earlier transfer of the phase over the same link.
  Rank other_dst = no_rank;
  std::string text = {};  ///< One sentence that contains all members above.
};

/// Returns the first violation in the order of phases, or nothing if the schedule delivers the matrix and
/// keeps `guarantees`. link_free is proven for `topology`; without link_free the topology is ignored. A
/// transfer that names a path is assumed to take this path. O(pieces log pieces) time, and with link_free the
/// time to make and sort the routes of each phase. Throws Error with code `invalid_argument` for link_free
/// without a topology, `mismatch` if the topology has fewer ranks than the matrix.
std::optional<Violation> check(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees,
                               const Topology* topology = nullptr);

/// Returns the first node contention of a phase (NICE s.2.1): the first rank that sends twice or receives
/// twice in this phase. A phase without node contention is a partial permutation.
std::optional<Violation> find_node_contention(const Schedule& schedule, PhaseId phase);

/// Returns the first link contention of a phase (NICE s.2.1): the first transfer that exceeds the slots of a
/// link of its route, and an earlier transfer on this link. Throws Error with code `mismatch` if the topology
/// has fewer ranks than the schedule.
std::optional<Violation> find_link_contention(const Schedule& schedule, PhaseId phase,
                                              const Topology& topology);

}  // namespace nuice
