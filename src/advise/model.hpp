// SPDX-License-Identifier: BSD-3-Clause
// The model: walks through a schedule once and keeps, for each rank, port and link, when it is free again.
#pragma once

#include "nuice/advise.hpp"

namespace nuice::advice {

/// Seconds that the schedule takes with the candidate's executor. O(transfers, and the lengths of their routes).
double model_s(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
               const Candidate& candidate, const AdviceOptions& options);

}  // namespace nuice::advice
