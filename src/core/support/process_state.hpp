// SPDX-License-Identifier: BSD-3-Clause
// What the operating system knows about a process: /proc/PID/stat, proc(5).
#pragma once

#include <cstdint>
#include <optional>

namespace nuice::core {

struct ProcessState {
  char letter;          // the state: R, S, D, T ...; Z: ended, but not yet collected by its parent
  std::int64_t parent;  // the number of the parent process
  std::int64_t begun;   // the start time, in ticks since the system was started
};

/// Returns the state of process `number`. Returns nothing if there is no such process, if the process ends
/// during the call, or if the system does not give the state. Takes about 5 us.
std::optional<ProcessState> process_state(std::int64_t number);

}  // namespace nuice::core
