// SPDX-License-Identifier: BSD-3-Clause
// Reports the windows of this process when it ends.
#pragma once

#include "flow/governor.hpp"

namespace nuice::flow {

/// Prints one line per port to stderr if NUICE_VERBOSE=1, and writes a JSON file for this process into DIR if
/// NUICE_FLOW_REPORT=DIR.
void report(Governor& governor);

}  // namespace nuice::flow
