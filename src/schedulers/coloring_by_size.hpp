// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "nuice/core/schedule.hpp"
#include "schedulers/graph/pieces.hpp"

namespace nuice::sched {

/// Colours pieces with as few phases as possible: as many as the maximum number of pieces of a rank. The
/// first phase that has a piece of a message sends the message's first bytes.
Schedule color_pieces(const CommMatrix& matrix, Pieces pieces);

}  // namespace nuice::sched
