// SPDX-License-Identifier: BSD-3-Clause
// The registry of scheduling algorithms. The command line, Python, tests, benches and docs all read this
// registry.
//
//   const Scheduler& s = find_scheduler("rs_n");
//   if (std::string reason = s.why_not({matrix, seed}); reason.empty())
//     Schedule plan = s.make({matrix, seed});
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/check.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/hosts.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

/// The default cost of a phase: the number of bytes that a port of 8 GB/s sends in two microseconds.
inline constexpr Bytes default_phase_cost_bytes = 16384;

struct Problem {
  const CommMatrix& matrix;
  std::uint64_t seed = 0;
  /// The cost of a phase in addition to its largest transfer, as the number of bytes that could be sent in
  /// this time: alpha / beta. Only schedulers that weigh phases against bytes (kpbs, bruck,
  /// distributed_coloring) use this cost. From 0 to max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The network; rank i of the matrix is rank i of the network. Schedulers that guarantee link_free need a
  /// network; other schedulers ignore it.
  const Topology* topology = nullptr;
  /// Whether two ranks that have messages for each other should exchange them in the same phase, which is
  /// faster on some machines (iPSC/860, 000 s.6). rs_nl, rs_nh and rs_nlh use this flag; lp, gs and others
  /// always make such pairs.
  bool prefer_pairs = false;
};

/// Properties of a matrix. The adviser estimates the costs of schedulers from them, before any schedule is
/// made.
struct MatrixTraits {
  double ranks = 0;
  double messages = 0;
  double degree = 0;  ///< The maximum number of messages that a rank sends or receives.
  double hops = 0;    ///< The mean number of links of a route; 0 without a network.
  bool equal_sizes = true;
};

/// A set of Pace values. The adviser tries a scheduler with executors of these paces. Pace::pairs counts as
/// Pace::phases.
class Paces {
 public:
  constexpr explicit Paces(std::same_as<Pace> auto... paces)
    requires(sizeof...(paces) > 0)
      : flags_(((1U << static_cast<unsigned>(paces)) | ...)) {}
  static constexpr Paces none() { return Paces(0U); }
  constexpr bool contains(Pace pace) const { return (flags_ >> static_cast<unsigned>(pace) & 1U) != 0; }

 private:
  constexpr explicit Paces(unsigned flags) : flags_(flags) {}
  unsigned flags_;
};

/// A member of a registry entry without a default value: an entry that does not set this member does not
/// compile.
template <typename Value>
class Required {
 public:
  // With these conversions, code writes and reads a Required<Value> like a Value.
  constexpr Required(Value value) : value_(value) {}          // NOLINT(misc-explicit-constructor)
  constexpr operator const Value&() const { return value_; }  // NOLINT(misc-explicit-constructor)
  constexpr const Value& operator*() const { return value_; }

 private:
  Value value_;
};

/// A registry entry. `make` is a pure function: the same problem gives the same schedule on every platform.
struct Scheduler {
  std::string_view name;     ///< The name, such as "rs_n".
  std::string_view summary;  ///< A one-line description.
  std::string_view source;   ///< The paper and figure that describe it.
  unsigned guarantees;       ///< The flags of the guarantees that all schedules of this scheduler keep.
  bool randomized;           ///< Whether schedules depend on the seed.
  Required<Schedule (*)(const Problem&)> make;  ///< Makes a schedule. Requires why_not() to be empty.
  /// Returns one sentence that says why the scheduler cannot handle a problem; empty if it can handle the
  /// problem. By default a scheduler can handle every problem.
  std::string (*why_not)(const Problem&) = [](const Problem&) { return std::string(); };

  // Estimates for the adviser. A wrong estimate makes bad advice, but never a wrong schedule.
  Required<double (*)(const MatrixTraits&)> expected_phases;
  /// The unevenness of phases, 0 to 1. 0: all phases together take as long as the busiest port needs for its
  /// bytes. 1: they take as long as if all messages had the largest size.
  Required<double> expected_unevenness;
  /// Roughly how many times `make` looks at every message: 1, 2, 5, 10, ... For link_free schedulers, this is
  /// how many times it looks at every link of a message's route.
  Required<double> planning_passes;
  /// Whether every rank needs the whole matrix. If not, a rank needs only its own messages (004 s.3).
  Required<bool> gathers;
  Required<Paces> tried_with;
  /// If this entry is another name of an algorithm: the algorithm's first name. The adviser tries only the
  /// entry with the first name.
  std::string_view alias_of = {};

  /// Whether the scheduler "auto" tries this scheduler for many small messages, because it forwards them in
  /// few large messages.
  bool is_tried_for_small = false;

  /// For schedulers that forward messages: returns the size limit of forwarded messages for a given cost of a
  /// phase. Larger messages are sent directly, all at once, in the last phase. If the pointer is null, all
  /// messages are forwarded.
  Bytes (*straight_above)(Bytes phase_cost_bytes) = nullptr;

  /// For schedulers that forward by the digits of the distance, with a phase for each value of a digit:
  /// returns the radices from which they choose.
  std::vector<std::int64_t> (*radices)(Rank ranks) = nullptr;

  bool needs_topology() const { return (guarantees & link_free) != 0; }
};

/// Returns all entries, in a fixed order.
std::span<const Scheduler> schedulers();

/// Returns the entry with that name. Throws Error with code `invalid_argument` for an unknown name; the text
/// lists the known names.
const Scheduler& find_scheduler(std::string_view name);

/// Adds an entry, which stays until the program ends. The strings of the entry must stay valid until then.
/// Call add_scheduler() on all ranks, before the first plan. Throws Error with code `invalid_argument` if the
/// name is empty or taken, or if alias_of is unknown; `limit` for the 129th entry.
void add_scheduler(const Scheduler& row);

/// Finds a scheduler by name and makes a schedule. Throws Error with code `invalid_argument` for an unknown
/// name; `not_applicable`, with the reason of why_not(), if the scheduler cannot handle the problem.
Schedule make_schedule(const CommMatrix& matrix, std::string_view name, std::uint64_t seed = 0,
                       Bytes phase_cost_bytes = default_phase_cost_bytes);
Schedule make_schedule(const Problem& problem, std::string_view name);

}  // namespace nuice
