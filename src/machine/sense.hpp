// SPDX-License-Identifier: BSD-3-Clause
// Values of a machine that are possible one by one and make no sense together.
#pragma once

#include <string>
#include <string_view>

#include "nuice/plan/machine.hpp"

namespace nuice::machine {

/// The key that is to blame, as in a file, and the reason; no reason if all is well.
struct Senseless {
  std::string_view section;
  std::string_view key;
  std::string why;
};

Senseless find_senseless(const Machine& machine);

}  // namespace nuice::machine
