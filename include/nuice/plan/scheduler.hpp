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
  /// The cost of a phase in addition to its largest transfer, in bytes that could be sent in that time: alpha
  /// / beta. Only schedulers that weigh phases against bytes (kpbs, bruck) use it. Between 0 and max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The network; rank i of the matrix is rank i of the network. Schedulers that promise link_free need it;
  /// the others ignore it.
  const Topology* topology = nullptr;
  /// Whether two ranks that have messages for each other exchange them in the same phase, for machines that gain by it
  /// (iPSC/860, 000 s.6). rs_nl, rs_nh and rs_nlh use it; lp, gs and others always pair.
  bool prefer_pairs = false;
};

/// The properties of a matrix on which a scheduler's estimates depend, before any schedule is made.
struct MatrixTraits {
  double ranks = 0;
  double messages = 0;
  double degree = 0;  ///< The most messages that a rank sends or receives.
  double hops = 0;    ///< Mean number of links of a route; 0 without a network.
  bool equal_sizes = true;
};

/// The kinds of executors with which the adviser tries a scheduler, by what they wait for. Pace::pairs counts
/// as Pace::phases.
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

/// A member of a registry entry that must be given: without it the entry does not compile.
template <typename Value>
class Required {
 public:
  // Entries are written with the value itself, and read as if they held it.
  constexpr Required(Value value) : value_(value) {}          // NOLINT(misc-explicit-constructor)
  constexpr operator const Value&() const { return value_; }  // NOLINT(misc-explicit-constructor)
  constexpr const Value& operator*() const { return value_; }

 private:
  Value value_;
};

/// A registry entry. `make` is a pure function: the same problem gives the same schedule on every platform.
struct Scheduler {
  std::string_view name;                        ///< "rs_n"
  std::string_view summary;                     ///< One line.
  std::string_view source;                      ///< Paper and figure.
  unsigned guarantees;                          ///< Guarantee flags that all its schedules keep.
  bool randomized;                              ///< Whether the seed matters.
  Required<Schedule (*)(const Problem&)> make;  ///< Requires why_not() to be empty.
  /// Empty if applicable, otherwise the reason in one sentence. By default a scheduler handles every matrix.
  std::string (*why_not)(const Problem&) = [](const Problem&) { return std::string(); };

  // Estimates for the adviser. A wrong one makes bad advice, but no schedule wrong.
  Required<double (*)(const MatrixTraits&)> expected_phases;
  /// How uneven phases are: 0 if all phases together take as long as the bytes of the busiest port, 1 if they
  /// take as long as if all messages had the largest size.
  Required<double> expected_unevenness;
  /// Roughly how often planning looks at every message: 1, 2, 5, 10, ... For link_free entries: at every link
  /// of its route.
  Required<double> planning_passes;
  /// Whether every rank needs the whole matrix. Without it its own sends and receives are enough (004 s.3).
  Required<bool> gathers;
  Required<Paces> tried_with;
  std::string_view alias_of =
      {};  ///< The entry with the same algorithm under its first name. The adviser tries that one.

  /// Whether exchanges of the scheduler "auto" try it for many small messages: it forwards them in few large
  /// ones.
  bool is_tried_for_small = false;

  /// For schedulers that forward, as a function of the cost of a phase in bytes: larger messages than this
  /// are sent directly, all at once, in the last phase. Without it all are forwarded.
  Bytes (*straight_above)(Bytes phase_cost_bytes) = nullptr;

  bool needs_topology() const { return (guarantees & link_free) != 0; }
};

/// All entries, in a fixed order.
std::span<const Scheduler> schedulers();

/// The entry with that name. Throws Error invalid_argument that lists the known names.
const Scheduler& find_scheduler(std::string_view name);

/// Adds an entry until the program ends; its strings must live as long. Call it on all ranks, before the
/// first plan. Throws Error invalid_argument if the name is empty or taken, or alias_of unknown; limit for
/// the 129th entry.
void add_scheduler(const Scheduler& row);

/// find_scheduler + why_not + make. Throws Error invalid_argument or not_applicable.
Schedule make_schedule(const CommMatrix& matrix, std::string_view name, std::uint64_t seed = 0,
                       Bytes phase_cost_bytes = default_phase_cost_bytes);
Schedule make_schedule(const Problem& problem, std::string_view name);

}  // namespace nuice
