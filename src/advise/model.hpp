// SPDX-License-Identifier: BSD-3-Clause
// The model: walks through a schedule once and keeps, for each rank, port and link, when it is free again.
#pragma once

#include "nuice/plan/advise.hpp"

namespace nuice::advice {

struct Modelled {
  double seconds;
  /// Messages found short queues full. Whether they really do hangs on microseconds that the model does not know.
  bool timeouts;
};

/// How long the schedule takes with the candidate's executor. O(transfers, and the lengths of their routes).
Modelled model(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
               const Candidate& candidate, const AdviceOptions& options);

}  // namespace nuice::advice
