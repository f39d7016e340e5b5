// SPDX-License-Identifier: BSD-3-Clause
// Messages, some of which are split into pieces.
#pragma once

#include <vector>

#include "nuice/core/comm_matrix.hpp"

namespace nuice::sched {

struct Pieces {
  std::vector<MessageId> messages;  // of each piece; the largest piece first
  std::vector<Bytes> bytes;         // of each piece; empty if all are whole messages
};

}  // namespace nuice::sched
