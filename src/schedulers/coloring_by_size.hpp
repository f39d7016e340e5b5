// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "nuice/core/schedule.hpp"
#include "schedulers/graph/pieces.hpp"

namespace nuice::sched {

/// As few phases as a rank has pieces at most. The first phase of a message sends its first bytes.
Schedule color_pieces(const CommMatrix& matrix, Pieces pieces);

}  // namespace nuice::sched
