// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a machine, and which key is to blame.
#pragma once

#include <string>
#include <string_view>

#include "nuice/plan/machine.hpp"

namespace nuice::machine {

/// A key as in a file, and what is wrong with it; `why` is empty if nothing is.
struct Fault {
  std::string_view section;
  std::string_view key;
  std::string why;
};

/// The first one.
Fault find_fault(const Machine& machine);

}  // namespace nuice::machine
