// SPDX-License-Identifier: BSD-3-Clause
// The executors: how a rank carries out its slice of a schedule. This is the only list of their names; the
// simulator, the adviser, plans on MPI, the command and the docs all read it.
//
//   for (const Executor& row : executors()) ...
//   find_executor("depend").pace          // Pace::notices
//
// An entry says what an executor waits for (its pace), which is all that simulators and predictions need. Its
// code for MPI is an entry of another registry, src/exchange/exec/table.cpp, under the same name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nuice/core/check.hpp"

namespace nuice {

/// What a rank waits for before its next send.
enum class Pace : std::uint8_t {
  at_once,  ///< For nothing: all sends start in the order of the schedule.
  phases,   ///< For its own send and receive of a phase.
  pairs,    ///< As phases; two ranks that exchange synchronise first, and the lower one receives first if the
            ///< port requires it.
  notices,  ///< For notifications that the previous transfers on its ports and links have completed
            ///< (dependencies.hpp).
  inquiries,  ///< For its receiver, which it asks before every message. It needs no schedule.
};

struct Executor {
  std::string_view name;     ///< "phased"
  std::string_view summary;  ///< One line.
  std::string_view source;   ///< Paper and section.
  Pace pace;
  unsigned needs;  ///< Guarantee flags of the schedules that it can carry out; 0: any.
  bool on_mpi;     ///< Whether plans on MPI can use it.
  /// For an executor without a schedule: the word that replaces the scheduler's name ("drs_n"). Empty: it
  /// needs a schedule.
  std::string_view without_scheduler = {};

  bool needs_schedule() const { return without_scheduler.empty(); }
  /// Whether it goes phase by phase. Only such executors carry out schedules that forward messages.
  bool has_phases() const { return pace == Pace::phases || pace == Pace::pairs; }
  /// Whether simulate() simulates it, or simulate_drs_n() if it needs no schedule. Executors with
  /// notifications are only modelled, or simulated packet by packet (simulate_packets()).
  bool is_simulated() const { return pace != Pace::notices; }
  /// Whether it carries out schedules with these guarantees.
  bool carries_out(unsigned guarantees) const { return needs_schedule() && (guarantees & needs) == needs; }
};

/// The executor "auto" if nothing is chosen.
inline constexpr std::string_view default_executor = "phased";

/// All entries, in a fixed order.
std::span<const Executor> executors();

/// The entry with that name. Throws Error invalid_argument that lists the known names.
const Executor& find_executor(std::string_view name);

/// Adds an entry until the program ends; its strings must live as long. Call it on all ranks, before the
/// first plan. Throws Error invalid_argument if the name is empty or taken, limit for the 129th entry.
void add_executor(const Executor& row);

}  // namespace nuice
