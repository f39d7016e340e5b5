// SPDX-License-Identifier: BSD-3-Clause
// The words: why this one, and why not each of the others.
#pragma once

#include "nuice/plan/advise.hpp"

namespace nuice::advice {

/// Fills `sentence` and every candidate's why_not, once the candidates are in their order.
void explain(Advice& advice);

/// 0.00015 -> "150 us".
std::string time_text(double seconds);

}  // namespace nuice::advice
