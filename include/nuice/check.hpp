// SPDX-License-Identifier: BSD-3-Clause
// The only judge of schedules. It shares no code with any scheduler and trusts nothing in a schedule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nuice/schedule.hpp"

namespace nuice {

/// What a schedule promises. Delivery (every byte of every message arrives exactly once) is always promised.
enum Guarantee : unsigned {
  direct = 1U << 0,         ///< Every transfer goes straight from a message's source to its destination.
  one_port = 1U << 1,       ///< Every phase is a partial permutation: no node contention (NICE s.2.1).
  fewest_phases = 1U << 2,  ///< As many phases as the maximum degree, which is the least possible.
  fewest_bytes = 1U << 3,   ///< phase_bytes() is what the busiest rank sends or receives: the least there is.
};

/// "direct one_port"; empty for none.
std::string guarantee_names(unsigned guarantees);
/// The flag with that name, or nothing.
std::optional<Guarantee> find_guarantee(std::string_view name);

enum class ViolationKind {
  bad_rank,         ///< A transfer whose source or destination is no rank of the matrix.
  bad_piece,        ///< A piece of no message, or outside its message, or without bytes.
  self_transfer,    ///< A transfer from a rank to itself.
  two_sends,        ///< one_port: a rank sends twice in a phase.
  two_receives,     ///< one_port: a rank receives twice in a phase.
  not_direct,       ///< direct: a transfer whose ends are not its message's.
  not_held,         ///< A rank sends bytes that it does not have, or no longer has (sent twice).
  not_delivered,    ///< Bytes that are not at their destination after the last phase.
  too_many_phases,  ///< fewest_phases: more phases than the maximum degree.
  too_many_bytes,   ///< fewest_bytes: phase_bytes() is more than the busiest rank sends or receives.
  wrong_num_ranks,  ///< Schedule and matrix differ in their number of ranks.
};
std::string_view violation_name(ViolationKind kind);

/// Where and what. Fields that do not apply are no_rank or 0.
struct Violation {
  ViolationKind kind;
  PhaseId phase = 0;
  Rank src = no_rank;  ///< Ends of the transfer at fault.
  Rank dst = no_rank;
  Rank message_src = no_rank;  ///< Ends of the message concerned.
  Rank message_dst = no_rank;
  Bytes offset = 0;  ///< Byte range of the message concerned.
  Bytes bytes = 0;
  std::string text = {};  ///< One sentence with all of the above.
};

/// The first violation in the order of phases, or nothing if the schedule delivers the matrix and keeps
/// `guarantees`. O(pieces log pieces) time.
std::optional<Violation> check(const CommMatrix& matrix, const Schedule& schedule, unsigned guarantees);

/// Node contention in one phase (NICE s.2.1): the first rank that sends twice or receives twice in it.
/// A phase without node contention is a partial permutation.
std::optional<Violation> find_node_contention(const Schedule& schedule, PhaseId phase);

}  // namespace nuice
