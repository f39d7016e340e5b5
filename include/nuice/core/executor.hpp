// SPDX-License-Identifier: BSD-3-Clause
// The executors: how a rank goes through its slice of a schedule. This is their one list of names; the simulator, the
// adviser, plans on MPI, the command and the docs all read it.
//
//   for (const Executor& row : executors()) ...
//   find_executor("depend").pace          // Pace::notices
//
// A row says what an executor waits for (its pace), and so what a simulator or a predictor makes of it. What it does over
// MPI is a row of another table, src/exchange/exec/table.cpp, under the same name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nuice/core/check.hpp"

namespace nuice {

/// What a rank waits for before it goes on.
enum class Pace : std::uint8_t {
  at_once,  ///< For nothing: all sends leave in the order of the schedule.
  phases,   ///< For its own send and receive of a phase.
  pairs,  ///< As phases; two ranks that exchange meet first, and the lower one receives first where a port needs that.
  notices,  ///< For notices that the transfers before it on its ports and links have completed (dependencies.hpp).
  inquiries,  ///< For its receivers, which it asks before every message. It needs no schedule.
};

struct Executor {
  std::string_view name;     ///< "phased"
  std::string_view summary;  ///< One line.
  std::string_view source;   ///< Paper and section.
  Pace pace;
  unsigned needs;  ///< Guarantee flags of the schedules that it can carry out; 0: any.
  bool on_mpi;     ///< Whether plans on MPI have it.
  /// Of an executor that needs no schedule: what replaces a scheduler's name ("drs_n"). Empty: it needs one.
  std::string_view without_scheduler = {};

  bool needs_schedule() const { return without_scheduler.empty(); }
  /// Phase by phase. Only such executors carry out schedules that forward messages.
  bool has_phases() const { return pace == Pace::phases || pace == Pace::pairs; }
  /// By simulate(), or without a schedule by simulate_drs_n(). Notices are only modelled, or simulated packet by
  /// packet (simulate_packets()).
  bool is_simulated() const { return pace != Pace::notices; }
  /// Whether it carries out schedules with these guarantees.
  bool carries_out(unsigned guarantees) const { return needs_schedule() && (guarantees & needs) == needs; }
};

/// What "auto" is where nothing is chosen.
inline constexpr std::string_view default_executor = "phased";

/// All rows, in a fixed order.
std::span<const Executor> executors();

/// The row with that name. Throws Error invalid_argument that lists the known names.
const Executor& find_executor(std::string_view name);

/// Adds a row for as long as the program runs; texts must live as long. Before the first plan, and on all ranks.
/// Throws Error invalid_argument if the name is empty or taken, limit for the 129th row.
void add_executor(const Executor& row);

}  // namespace nuice
