// SPDX-License-Identifier: BSD-3-Clause
// The registry of executors. An executor determines how a rank carries out its slice of a schedule. This
// registry is the only list of their names; the simulator, the adviser, plans on MPI, the command and the
// docs all read it.
//
//   for (const Executor& row : executors()) ...
//   find_executor("depend").pace          // Pace::notices
//
// An entry says for what an executor waits (its pace); simulators and predictions need nothing else. The
// executor's code for MPI has an entry of the same name in another registry, src/exchange/exec/table.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nuice/core/check.hpp"

namespace nuice {

/// The event for which a rank waits before its next send.
enum class Pace : std::uint8_t {
  at_once,  ///< No event: all sends start at once, in the order of the schedule.
  phases,   ///< The end of the rank's own send and receive of the phase.
  /// The end of the rank's own send and receive of the phase, which begin after the rank has synchronised
  /// with its partner. If the port cannot send and receive at once, the lower rank of the pair receives
  /// first.
  pairs,
  /// Notifications that the previous transfers on the message's ports and links have completed
  /// (dependencies.hpp).
  notices,
  /// The receiver's answer: the rank asks the receiver before every message. This pace needs no schedule.
  inquiries,
};

struct Executor {
  std::string_view name;     ///< The name, such as "phased".
  std::string_view summary;  ///< A one-line description.
  std::string_view source;   ///< The paper and section that describe it.
  Pace pace;
  unsigned needs;  ///< The flags of the guarantees that a schedule must have; 0: none.
  bool on_mpi;     ///< Whether plans on MPI can use the executor.
  /// The word that replaces the scheduler's name ("drs_n") if the executor needs no schedule; otherwise
  /// empty.
  std::string_view without_scheduler = {};

  bool needs_schedule() const { return without_scheduler.empty(); }
  /// Returns whether the executor proceeds phase by phase. Only such executors carry out schedules that
  /// forward messages.
  bool has_phases() const { return pace == Pace::phases || pace == Pace::pairs; }
  /// Returns whether simulate() or, without a schedule, simulate_drs_n() simulates the executor. Executors
  /// with notifications are simulated only packet by packet (simulate_packets()).
  bool is_simulated() const { return pace != Pace::notices; }
  /// Returns whether the executor can carry out schedules with these guarantees.
  bool carries_out(unsigned guarantees) const { return needs_schedule() && (guarantees & needs) == needs; }
};

/// The executor that "auto" means if the scheduler does not choose an executor.
inline constexpr std::string_view default_executor = "phased";

/// Returns all entries, in a fixed order.
std::span<const Executor> executors();

/// Returns the entry with that name. Throws Error with code `invalid_argument` for an unknown name; the text
/// lists the known names.
const Executor& find_executor(std::string_view name);

/// Adds an entry, which stays until the program ends. The strings of the entry must stay valid until then.
/// Call add_executor() on all ranks, before the first plan. Throws Error with code `invalid_argument` if the
/// name is empty or taken, `limit` for the 129th entry.
void add_executor(const Executor& row);

}  // namespace nuice
