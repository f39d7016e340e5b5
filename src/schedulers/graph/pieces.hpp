// SPDX-License-Identifier: BSD-3-Clause
// Messages, some of them in pieces, and their colouring by size.
#pragma once

#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice::sched {

struct Pieces {
  std::vector<MessageId> messages;  // of each piece; the largest piece first
  std::vector<Bytes> bytes;         // of each piece; empty if all are whole messages
};

/// As few phases as a rank has pieces at most. The first phase of a message sends its first bytes.
Schedule color_pieces(const CommMatrix& matrix, Pieces pieces);

}  // namespace nuice::sched
