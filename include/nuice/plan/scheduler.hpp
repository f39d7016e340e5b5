// SPDX-License-Identifier: BSD-3-Clause
// The table of scheduling algorithms. Command line, Python, tests, benches and docs all read it.
//
//   const Scheduler& s = find_scheduler("rs_n");
//   if (std::string reason = s.why_not({matrix, seed}); reason.empty()) Schedule plan = s.make({matrix,
//   seed});
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nuice/core/check.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

/// Two microseconds at eight gigabytes per second.
inline constexpr Bytes default_phase_cost_bytes = 16384;

struct Problem {
  const CommMatrix& matrix;
  std::uint64_t seed = 0;
  /// What a phase costs besides its largest transfer, as the bytes that could be sent in that time: alpha / beta. Only
  /// schedulers that weigh phases against bytes (kpbs, bruck) look at it. Between 0 and max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The network, rank i of the matrix being its rank i. Rows that promise link_free need one; the others do not look.
  const Topology* topology = nullptr;
  /// Whether two ranks that have messages for each other exchange them in the same phase, for machines that gain by it
  /// (iPSC/860, 000 s.6). Only rs_nl looks at it; lp, gs and others pair anyway.
  bool prefer_pairs = false;
};

/// A row. `make` is a pure function: the same problem gives the same schedule on every platform.
struct Scheduler {
  std::string_view name;                   ///< "rs_n"
  std::string_view summary;                ///< One line.
  std::string_view source;                 ///< Paper and figure.
  unsigned guarantees;                     ///< Guarantee flags that every schedule of this row keeps.
  bool randomized;                         ///< Whether the seed matters.
  std::string (*why_not)(const Problem&);  ///< Empty if applicable, otherwise the reason in one sentence.
  Schedule (*make)(const Problem&);        ///< Requires why_not() to be empty.

  bool needs_topology() const { return (guarantees & link_free) != 0; }
};

/// All rows, in a fixed order.
std::span<const Scheduler> schedulers();

/// The row with that name. Throws Error invalid_argument that lists the known names.
const Scheduler& find_scheduler(std::string_view name);

/// find_scheduler + why_not + make. Throws Error invalid_argument or not_applicable.
Schedule make_schedule(const CommMatrix& matrix, std::string_view name, std::uint64_t seed = 0,
                       Bytes phase_cost_bytes = default_phase_cost_bytes);
Schedule make_schedule(const Problem& problem, std::string_view name);

}  // namespace nuice
