// SPDX-License-Identifier: BSD-3-Clause
// Finds faults of a machine and the keys that cause them.
#pragma once

#include <string>
#include <string_view>

#include "nuice/plan/machine.hpp"

namespace nuice::machine {

/// A key as in a file, and what is wrong with it. `why` is empty if nothing is wrong.
struct Fault {
  std::string_view section;
  std::string_view key;
  std::string why;
};

/// Returns the first fault.
Fault find_fault(const Machine& machine);

}  // namespace nuice::machine
