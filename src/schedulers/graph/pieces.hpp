// SPDX-License-Identifier: BSD-3-Clause
// Messages, some of which are split into pieces.
#pragma once

#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::sched {

struct Pieces {
  std::vector<MessageId> messages;  // of each piece; the largest piece first
  std::vector<Bytes> bytes;         // of each piece; empty if all are whole messages
};

/// Returns the schedule in which each piece of a cut message is sent in its phase. The first phase that has a
/// piece of a message sends the message's first bytes. phase_of: by piece. O(pieces log pieces).
Schedule schedule_of(const CommMatrix& matrix, const Pieces& pieces, const std::vector<PhaseId>& phase_of);

}  // namespace nuice::sched
