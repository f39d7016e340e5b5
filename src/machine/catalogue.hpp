// SPDX-License-Identifier: BSD-3-Clause
// The shipped machines, which the build collects.
#pragma once

#include <span>

#include "nuice/plan/machine.hpp"

namespace nuice::machine {

std::span<const ShippedMachine> catalogue();

}  // namespace nuice::machine
