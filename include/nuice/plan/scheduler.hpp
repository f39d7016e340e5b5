// SPDX-License-Identifier: BSD-3-Clause
// The table of scheduling algorithms. Command line, Python, tests, benches and docs all read it.
//
//   const Scheduler& s = find_scheduler("rs_n");
//   if (std::string reason = s.why_not({matrix, seed}); reason.empty()) Schedule plan = s.make({matrix,
//   seed});
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

/// Two microseconds at eight gigabytes per second.
inline constexpr Bytes default_phase_cost_bytes = 16384;

struct Problem {
  const CommMatrix& matrix;
  std::uint64_t seed = 0;
  /// The cost of a phase in addition to its largest transfer, as the bytes that could be sent in that time: alpha / beta. Only
  /// schedulers that weigh phases against bytes (kpbs, bruck) look at it. Between 0 and max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The network, rank i of the matrix being its rank i. Rows that promise link_free need one; the others do not look.
  const Topology* topology = nullptr;
  /// Whether two ranks that have messages for each other exchange them in the same phase, for machines that gain by it
  /// (iPSC/860, 000 s.6). rs_nl, rs_nh and rs_nlh look at it; lp, gs and others pair anyway.
  bool prefer_pairs = false;
};

/// What a row's figures depend on: a matrix before any schedule is made.
struct MatrixTraits {
  double ranks = 0;
  double messages = 0;
  double degree = 0;  ///< The most messages that a rank sends or receives.
  double hops = 0;    ///< Mean number of links of a route; 0 without a network.
  bool equal_sizes = true;
};

/// The executors that the adviser tries a scheduler with, by what they wait for. Those that meet in pairs count as phases.
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

/// A member of a row that does not compile when it is left out.
template <typename Value>
class Required {
 public:
  // Rows are written with the value itself, and read as if they held it.
  constexpr Required(Value value) : value_(value) {}          // NOLINT(misc-explicit-constructor)
  constexpr operator const Value&() const { return value_; }  // NOLINT(misc-explicit-constructor)
  constexpr const Value& operator*() const { return value_; }

 private:
  Value value_;
};

/// A row. `make` is a pure function: the same problem gives the same schedule on every platform.
struct Scheduler {
  std::string_view name;                        ///< "rs_n"
  std::string_view summary;                     ///< One line.
  std::string_view source;                      ///< Paper and figure.
  unsigned guarantees;                          ///< Guarantee flags that every schedule of this row keeps.
  bool randomized;                              ///< Whether the seed matters.
  Required<Schedule (*)(const Problem&)> make;  ///< Requires why_not() to be empty.
  /// Empty if applicable, otherwise the reason in one sentence. Without it the row handles every matrix.
  std::string (*why_not)(const Problem&) = [](const Problem&) { return std::string(); };

  // What the adviser needs. Estimates: a wrong one makes bad advice, never a wrong schedule.
  Required<double (*)(const MatrixTraits&)> expected_phases;
  /// How long phases are together: 0 as long as the busiest port has bytes, 1 as if all messages were as long as the largest.
  Required<double> expected_unevenness;
  /// How often planning looks at every message, at least roughly: 1, 2, 5, 10, ... Of link_free rows: at every link of its route.
  Required<double> planning_passes;
  /// Whether every rank needs the whole matrix. Without it its own sends and receives are enough (004 s.3).
  Required<bool> gathers;
  Required<Paces> tried_with;
  std::string_view alias_of =
      {};  ///< The row with the same algorithm, under its first name. The adviser tries that one.

  /// The exchanges of the scheduler "auto" try it on themselves, where small messages are many: it forwards, and sends few large ones.
  bool is_tried_for_small = false;

  /// Of rows that forward, by the cost of a phase in bytes: messages of more bytes go straight, all at once, in the
  /// last phase. Without it all are forwarded.
  Bytes (*straight_above)(Bytes phase_cost_bytes) = nullptr;

  bool needs_topology() const { return (guarantees & link_free) != 0; }
};

/// All rows, in a fixed order.
std::span<const Scheduler> schedulers();

/// The row with that name. Throws Error invalid_argument that lists the known names.
const Scheduler& find_scheduler(std::string_view name);

/// Adds a row for as long as the program runs; texts must live as long. Before the first plan, and on all ranks.
/// Throws Error invalid_argument if the name is empty or taken, or alias_of unknown; limit for the 129th row.
void add_scheduler(const Scheduler& row);

/// find_scheduler + why_not + make. Throws Error invalid_argument or not_applicable.
Schedule make_schedule(const CommMatrix& matrix, std::string_view name, std::uint64_t seed = 0,
                       Bytes phase_cost_bytes = default_phase_cost_bytes);
Schedule make_schedule(const Problem& problem, std::string_view name);

}  // namespace nuice
