// SPDX-License-Identifier: BSD-3-Clause
// What the system says of a process: /proc/PID/stat, proc(5).
#pragma once

#include <cstdint>
#include <optional>

namespace nuice::core {

struct ProcessState {
  char letter;          // R, S, D, T ...; Z: gone, but its parent has not asked yet
  std::int64_t parent;  // its number
  std::int64_t begun;   // when, in ticks since the system was started
};

/// Nothing if there is no such process, if it ends meanwhile, or where the system does not tell. Some 5 us.
std::optional<ProcessState> process_state(std::int64_t number);

}  // namespace nuice::core
