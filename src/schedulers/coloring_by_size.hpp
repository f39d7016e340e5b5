// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "nuice/core/schedule.hpp"
#include "schedulers/graph/pieces.hpp"

namespace nuice::sched {

/// Colours pieces with as few phases as possible: the maximum number of pieces of a rank. The first phase of
/// a message sends its first bytes.
Schedule color_pieces(const CommMatrix& matrix, Pieces pieces);

}  // namespace nuice::sched
