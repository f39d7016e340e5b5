// SPDX-License-Identifier: BSD-3-Clause
// The only checker of schedules. It shares no code with any scheduler and trusts nothing in a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

/// What a schedule promises. Delivery (every byte of every message arrives exactly once) is always promised.
enum Guarantee : unsigned {
  direct = 1U << 0,         ///< Every transfer goes directly from a message's source to its destination.
  one_port = 1U << 1,       ///< Every phase is a partial permutation: no node contention (NICE s.2.1).
  fewest_phases = 1U << 2,  ///< The number of phases is the maximum degree, the least possible.
  fewest_bytes = 1U << 3,   ///< phase_bytes() is the number of bytes of the busiest rank, the least possible.
  /// No phase has link contention on a given network (000 s.2.1): no link carries more transfers than its slots().
  link_free = 1U << 4,
};

/// "direct one_port"; empty for none.
std::string guarantee_names(unsigned guarantees);
/// The flag with that name. Throws Error invalid_argument that lists the known names.
Guarantee find_guarantee(std::string_view name);

enum class ViolationKind {
  bad_rank,         ///< A transfer whose source or destination is not a rank of the matrix.
  bad_piece,        ///< A piece of no message, or outside its message, or without bytes.
  self_transfer,    ///< A transfer from a rank to itself.
  two_sends,        ///< one_port: a rank sends twice in a phase.
  two_receives,     ///< one_port: a rank receives twice in a phase.
  not_direct,       ///< direct: a transfer whose ends are not its message's.
  not_held,         ///< A rank sends bytes that it does not have, or no longer has (sent twice).
  not_delivered,    ///< Bytes that are not at their destination after the last phase.
  too_many_phases,  ///< fewest_phases: more phases than the maximum degree.
  too_many_bytes,   ///< fewest_bytes: phase_bytes() is more than the busiest rank sends or receives.
  link_contention,  ///< link_free: more transfers of a phase over a link than it has slots.
  bad_path,         ///< link_free: a transfer over a path that the network does not have.
  wrong_num_ranks,  ///< Schedule and matrix differ in their number of ranks.
};
std::string_view violation_name(ViolationKind kind);

/// The kind of a fault and its place. Fields that do not apply are no_rank or 0.
struct Violation {
  ViolationKind kind;
  PhaseId phase = 0;
  Rank src = no_rank;  ///< Ends of the transfer at fault.
  Rank dst = no_rank;
  Rank message_src = no_rank;  ///< Ends of the message concerned.
  Rank message_dst = no_rank;
  Bytes offset = 0;  ///< Byte range of the message concerned.
  Bytes bytes = 0;
  LinkId link = no_link;     ///< The link where transfers meet, and
  Rank other_src = no_rank;  ///< the ends of an earlier transfer of the phase that crosses it too.
  Rank other_dst = no_rank;
  std::string text = {};  ///< One sentence with all of the above.
};

/// The first violation in the order of phases, or nothing if the schedule delivers the matrix and keeps
/// `guarantees`. O(pieces log pieces) time; link_free adds the time to make and sort the routes of each
/// phase. link_free is proven for `topology`, which is ignored otherwise. A transfer with a path is assumed
/// to take it. Throws Error invalid_argument for link_free without a topology, mismatch if the topology has
/// fewer ranks than the matrix.
std::optional<Violation> check(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees,
                               const Topology* topology = nullptr);

/// Node contention in one phase (NICE s.2.1): the first rank that sends twice or receives twice in it.
/// A phase without node contention is a partial permutation.
std::optional<Violation> find_node_contention(const Schedule& schedule, PhaseId phase);

/// Link contention in one phase (NICE s.2.1): the first transfer that exceeds the slots of a link of its
/// route, and an earlier transfer on the same link. Throws Error mismatch if the topology has fewer ranks
/// than the schedule.
std::optional<Violation> find_link_contention(const Schedule& schedule, PhaseId phase,
                                              const Topology& topology);

}  // namespace nuice
