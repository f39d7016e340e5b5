// SPDX-License-Identifier: BSD-3-Clause
// The registry of scheduling algorithms, which the command line, Python, tests, benches and docs all read.
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

/// The bytes that a port of 8 GB/s sends in two microseconds.
inline constexpr Bytes default_phase_cost_bytes = 16384;

struct Problem {
  const CommMatrix& matrix;
  std::uint64_t seed = 0;
  /// The cost of a phase in addition to its largest transfer, in bytes that could be sent in that time: alpha
  /// / beta. Only schedulers that weigh phases against bytes (kpbs, bruck) use it. Between 0 and max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The network; rank i of the matrix is rank i of the network. Schedulers that guarantee link_free need it;
  /// other schedulers ignore it.
  const Topology* topology = nullptr;
  /// Whether two ranks that have messages for each other should exchange them in the same phase, which some
  /// machines reward (iPSC/860, 000 s.6). rs_nl, rs_nh and rs_nlh use it; lp, gs and others always pair.
  bool prefer_pairs = false;
};

/// The properties of a matrix from which a scheduler's costs are estimated before any schedule is made.
struct MatrixTraits {
  double ranks = 0;
  double messages = 0;
  double degree = 0;  ///< The maximum number of messages that a rank sends or receives.
  double hops = 0;    ///< The mean number of links of a route; 0 without a network.
  bool equal_sizes = true;
};

/// A set of Pace values: the adviser tries a scheduler with executors of these paces. Pace::pairs counts as
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

/// A member of a registry entry that has no default: an entry without it does not compile.
template <typename Value>
class Required {
 public:
  // The conversions let entries be written and read as if they held the value itself.
  constexpr Required(Value value) : value_(value) {}          // NOLINT(misc-explicit-constructor)
  constexpr operator const Value&() const { return value_; }  // NOLINT(misc-explicit-constructor)
  constexpr const Value& operator*() const { return value_; }

 private:
  Value value_;
};

/// A registry entry. `make` is a pure function: the same problem gives the same schedule on every platform.
struct Scheduler {
  std::string_view name;                        ///< The name, such as "rs_n".
  std::string_view summary;                     ///< A one-line description.
  std::string_view source;                      ///< The paper and figure that describe it.
  unsigned guarantees;                          ///< The flags of the guarantees that all its schedules keep.
  bool randomized;                              ///< Whether schedules depend on the seed.
  Required<Schedule (*)(const Problem&)> make;  ///< Makes a schedule. Requires why_not() to be empty.
  /// Returns why the scheduler cannot handle a problem, in one sentence; empty if it can. By default every
  /// matrix is handled.
  std::string (*why_not)(const Problem&) = [](const Problem&) { return std::string(); };

  // Estimates for the adviser. A wrong estimate makes bad advice, but never a wrong schedule.
  Required<double (*)(const MatrixTraits&)> expected_phases;
  /// The unevenness of phases: 0 if all phases together take as long as the bytes of the busiest port, 1 if
  /// they take as long as if all messages had the largest size.
  Required<double> expected_unevenness;
  /// Roughly how often planning looks at every message: 1, 2, 5, 10, ... For link_free schedulers: at every
  /// link of its route.
  Required<double> planning_passes;
  /// Whether every rank needs the whole matrix. If not, its own messages are enough (004 s.3).
  Required<bool> gathers;
  Required<Paces> tried_with;
  /// The first name of the same algorithm, if this entry is an alias. The adviser tries the entry with the
  /// first name.
  std::string_view alias_of = {};

  /// Whether the scheduler "auto" tries it for many small messages, because it forwards them in few large
  /// messages.
  bool is_tried_for_small = false;

  /// For schedulers that forward: returns, for the cost of a phase in bytes, the size above which messages
  /// are sent directly, all at once, in the last phase. If null, all messages are forwarded.
  Bytes (*straight_above)(Bytes phase_cost_bytes) = nullptr;

  bool needs_topology() const { return (guarantees & link_free) != 0; }
};

/// Returns all entries, in a fixed order.
std::span<const Scheduler> schedulers();

/// Returns the entry with that name. Throws Error invalid_argument, which lists the known names.
const Scheduler& find_scheduler(std::string_view name);

/// Adds an entry until the program ends; its strings must live as long. Call it on all ranks, before the
/// first plan. Throws Error invalid_argument if the name is empty or taken, or if alias_of is unknown; limit
/// for the 129th entry.
void add_scheduler(const Scheduler& row);

/// Finds a scheduler by name and makes a schedule. Throws Error invalid_argument for an unknown name,
/// not_applicable with the reason of why_not().
Schedule make_schedule(const CommMatrix& matrix, std::string_view name, std::uint64_t seed = 0,
                       Bytes phase_cost_bytes = default_phase_cost_bytes);
Schedule make_schedule(const Problem& problem, std::string_view name);

}  // namespace nuice
