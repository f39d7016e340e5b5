// SPDX-License-Identifier: BSD-3-Clause
// What the windows of this process have come to, when it ends.
#pragma once

#include "flow/governor.hpp"

namespace nuice::flow {

/// With NUICE_VERBOSE=1 a line for each port on stderr; with NUICE_FLOW_REPORT=DIR a JSON file of this process there.
void report(Governor& governor);

}  // namespace nuice::flow
