// SPDX-License-Identifier: BSD-3-Clause
// The executors: how a rank carries out its slice of a schedule. This registry is the only list of their
// names: the simulator, the adviser, plans on MPI, the command and the docs all read it.
//
//   for (const Executor& row : executors()) ...
//   find_executor("depend").pace          // Pace::notices
//
// An entry says what an executor waits for (its pace), which is all that simulators and predictions need. Its
// code for MPI has an entry of the same name in another registry, src/exchange/exec/table.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nuice/core/check.hpp"

namespace nuice {

/// What a rank waits for before its next send.
enum class Pace : std::uint8_t {
  at_once,  ///< Nothing: all sends start in the order of the schedule.
  phases,   ///< Its own send and receive of the phase.
  /// Its own send and receive of the phase, after synchronising with the rank with which it exchanges
  /// messages. The lower rank receives first if the port requires it.
  pairs,
  /// Notifications that the previous transfers on its ports and links have completed (dependencies.hpp).
  notices,
  inquiries,  ///< The answer of the receiver, which it asks before every message. Needs no schedule.
};

struct Executor {
  std::string_view name;     ///< The name, such as "phased".
  std::string_view summary;  ///< A one-line description.
  std::string_view source;   ///< The paper and section that describe it.
  Pace pace;
  unsigned needs;  ///< The flags of guarantees that it needs from a schedule; 0: none.
  bool on_mpi;     ///< Whether plans on MPI can use it.
  /// The word that replaces the scheduler's name ("drs_n") if the executor needs no schedule; otherwise
  /// empty.
  std::string_view without_scheduler = {};

  bool needs_schedule() const { return without_scheduler.empty(); }
  /// Returns whether it proceeds phase by phase. Only such executors carry out schedules that forward
  /// messages.
  bool has_phases() const { return pace == Pace::phases || pace == Pace::pairs; }
  /// Returns whether simulate(), or simulate_drs_n() without a schedule, simulates it. Executors with
  /// notifications are modelled, or simulated packet by packet (simulate_packets()).
  bool is_simulated() const { return pace != Pace::notices; }
  /// Returns whether it carries out schedules with these guarantees.
  bool carries_out(unsigned guarantees) const { return needs_schedule() && (guarantees & needs) == needs; }
};

/// The executor that "auto" stands for if nothing is chosen.
inline constexpr std::string_view default_executor = "phased";

/// Returns all entries, in a fixed order.
std::span<const Executor> executors();

/// Returns the entry with that name. Throws Error invalid_argument, which lists the known names.
const Executor& find_executor(std::string_view name);

/// Adds an entry until the program ends; its strings must live as long. Call it on all ranks, before the
/// first plan. Throws Error invalid_argument if the name is empty or taken, limit for the 129th entry.
void add_executor(const Executor& row);

}  // namespace nuice
