// SPDX-License-Identifier: BSD-3-Clause
// The model: walks through a schedule once and keeps, for each rank, port and link, when it is free again.
#pragma once

#include "nuice/core/executor.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::advice {

struct Modelled {
  double seconds;
  /// Messages found short queues full. Whether they really do hangs on microseconds that the model does not know.
  bool timeouts;
};

/// How long the schedule takes with an executor of that pace. O(transfers, and the lengths of their routes).
Modelled model(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine, Pace pace);

}  // namespace nuice::advice
