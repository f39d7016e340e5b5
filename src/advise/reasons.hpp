// SPDX-License-Identifier: BSD-3-Clause
// The texts of an advice: why the choice, and why not each other candidate.
#pragma once

#include "nuice/plan/advise.hpp"

namespace nuice::advice {

/// Fills `sentence` and every candidate's why_not. Call it when the candidates are in their final order.
void explain(Advice& advice);

/// Returns the time as text: 0.00015 gives "150 us".
std::string time_text(double seconds);

}  // namespace nuice::advice
