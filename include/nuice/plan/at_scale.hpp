// SPDX-License-Identifier: BSD-3-Clause
// Planning for a million ranks, each of which knows its own messages only, in one process. The code is the
// one that Planning::distributed runs on MPI, with one object per rank; its control messages (letters) are
// counted.
//
//   const ScaleReport report = plan_at_scale({.num_ranks = 1 << 20, .degree = 64});
//   report.num_phases; report.verified; modelled_planning_s(report, find_machine("ib-ndr-fattree"));
//
// Cost: 60 to 100 bytes a message of memory, about 0.1 s for a million messages of random patterns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/types.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {

/// A matrix that is drawn at random, because a stored one would be too large.
struct ScaleProblem {
  Rank num_ranks = 1024;
  Rank degree = 64;
  std::string pattern = "random";  ///< A name of scale_patterns().
  std::string sizes = "equal";     ///< A name of scale_sizes(); the unit is 1024 bytes.
  std::uint64_t seed = 0;          ///< Seed of the matrix and of the plan.
  /// The share of the messages, 0 to 1, that afterwards gets other partners; the plan then follows.
  double changed = 0;
};

/// A pattern or a distribution of sizes, by name.
struct ScaleName {
  std::string_view name;
  std::string_view summary;
};
std::vector<ScaleName> scale_patterns();
std::vector<ScaleName> scale_sizes();

/// One round, in which each rank reads and writes letters of scale_letter_bytes: the numbers of the busiest
/// rank.
struct ScaleRound {
  std::uint32_t most_in;
  std::uint32_t most_out;
};
inline constexpr Bytes scale_letter_bytes = 20;

/// One run of the rounds.
struct ScaleRun {
  std::uint32_t num_phases = 0;
  Bytes phase_bytes = 0;      ///< Sum over the phases of the largest message.
  std::uint64_t letters = 0;  ///< Control messages of all ranks.
  std::uint64_t most_letters_of_a_rank = 0;
  std::vector<ScaleRound> rounds;
  double seconds = 0;     ///< Time of all ranks here, in one process, one after the other.
  bool verified = false;  ///< By check_alone() of every table and compare_claims() of every message.
  std::string violation;  ///< The first fault, if any.
};

struct ScaleReport {
  Rank num_ranks = 0;
  std::uint64_t num_messages = 0;
  std::uint32_t max_degree = 0;
  Bytes whole_message_bytes = 0;  ///< W (bounds.hpp).
  ScaleRun plan = {};
  /// Most memory that one rank had at once: its messages, its letters, room for a round, and then its table.
  std::uint64_t memory_per_rank_bytes = 0;
  std::uint64_t process_bytes = 0;  ///< Most memory of this process, as the system counts it.
  std::uint64_t num_changed = 0;
  ScaleRun follow = {};  ///< The plan that follows, if messages were changed.
};

/// Called from time to time with the name of the step and the share of it that is done, 0 to 1.
using OnScaleProgress = std::function<void(std::string_view step, double done)>;

/// Throws Error invalid_argument for unknown names, a degree that the pattern does not have, shares outside 0 to 1,
/// limit where a rank has 65,535 messages or more.
ScaleReport plan_at_scale(const ScaleProblem& problem, const OnScaleProgress& on_progress = {});

/// Modelled by LogGP, not measured: the time of a machine for the rounds of a run, for learning senders and
/// limits before, and for the check afterwards. Every round costs the busiest rank's overheads and bytes, a
/// latency each way, because sends are synchronous (NBX), and a sum over all ranks:
///
///   rounds * (in * receive_overhead + out * send_overhead + (in + out) * letter * byte + 2 * (latency + route * hop) + sum)
///   sum = barrier_s + barrier_level_s * ceil(log2(ranks))
///
/// `route` is the longest route of the machine's network, which may be too small for that number of ranks.
double modelled_planning_s(const ScaleReport& report, const ScaleRun& run, const Machine& machine);

}  // namespace nuice
