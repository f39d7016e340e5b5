// SPDX-License-Identifier: BSD-3-Clause
// Runs distributed planning for up to a million ranks in one process. Each rank knows only its own messages.
// The code is that of Planning::distributed, but with one object per rank instead of MPI. The control
// messages (letters) are counted.
//
//   const ScaleReport report = plan_at_scale({.num_ranks = 1 << 20, .degree = 64});
//   report.num_phases; report.verified; modelled_planning_s(report, find_machine("ib-ndr-fattree"));
//
// Cost: 60 to 100 bytes of memory per message, and, for random patterns, about 0.1 s per million messages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/types.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {

/// The parameters from which a matrix is generated. A stored matrix would be too large.
struct ScaleProblem {
  Rank num_ranks = 1024;
  Rank degree = 64;
  std::string pattern = "random";  ///< A name of scale_patterns().
  std::string sizes = "equal";     ///< A name of scale_sizes(); sizes are multiples of 1024 bytes.
  std::uint64_t seed = 0;          ///< The seed of the matrix and of the plan.
  /// The share of the messages, 0 to 1, that get other partners after the first plan; a second plan then
  /// follows the first.
  double changed = 0;
};

/// A pattern or a distribution of sizes.
struct ScaleName {
  std::string_view name;
  std::string_view summary;
};
std::vector<ScaleName> scale_patterns();
std::vector<ScaleName> scale_sizes();

/// One round, in which each rank receives and sends control messages of scale_letter_bytes bytes. The numbers
/// are maxima over the ranks.
struct ScaleRound {
  std::uint32_t most_in;
  std::uint32_t most_out;
};
inline constexpr Bytes scale_letter_bytes = 20;

/// The result of making one plan, which takes several rounds.
struct ScaleRun {
  std::uint32_t num_phases = 0;
  Bytes phase_bytes = 0;      ///< The sum of the largest messages of all phases.
  std::uint64_t letters = 0;  ///< The number of control messages of all ranks.
  std::uint64_t most_letters_of_a_rank = 0;
  std::vector<ScaleRound> rounds;
  double seconds = 0;  ///< The time that this process took to run all ranks, one after the other.
  /// Whether check_alone() found no fault in any table and compare_claims() found none in any message.
  bool verified = false;
  std::string violation;  ///< The first fault; empty if there is none.
};

struct ScaleReport {
  Rank num_ranks = 0;
  std::uint64_t num_messages = 0;
  std::uint32_t max_degree = 0;
  Bytes whole_message_bytes = 0;  ///< The bound W (nuice/core/bounds.hpp).
  ScaleRun plan = {};
  /// The maximum memory of a rank, for its messages, its control messages, the working space of one round,
  /// and its finished table.
  std::uint64_t memory_per_rank_bytes = 0;
  std::uint64_t process_bytes = 0;  ///< The maximum memory of this process according to the operating system.
  std::uint64_t num_changed = 0;
  ScaleRun follow = {};  ///< The second plan, which follows the first, if messages were changed.
};

/// A function that is called from time to time with the name of the current step and the share of the step, 0
/// to 1, that is done.
using OnScaleProgress = std::function<void(std::string_view step, double done)>;

/// Generates the matrix, makes a plan, and checks the plan. Throws Error with code `invalid_argument` for
/// unknown names, a degree that is impossible for the pattern, or a share outside 0 to 1; `limit` if a rank
/// has 65,535 messages or more.
ScaleReport plan_at_scale(const ScaleProblem& problem, const OnScaleProgress& on_progress = {});

/// Returns the planning time on `machine`, predicted by the LogGP model. The ranks learn senders and limits,
/// run the rounds of `run`, and check the plan. Every round costs the overheads and bytes of the busiest
/// rank, two latencies (because sends are synchronous, NBX), and a sum over all ranks:
///
///   rounds * (in * receive_overhead + out * send_overhead + (in + out) * letter * byte
///             + 2 * (latency + route * hop) + sum)
///   sum = barrier_s + barrier_level_s * ceil(log2(ranks))
///
/// `route` is the number of links of the longest route in the machine's network, even if this network is too
/// small for the number of ranks.
double modelled_planning_s(const ScaleReport& report, const ScaleRun& run, const Machine& machine);

}  // namespace nuice
