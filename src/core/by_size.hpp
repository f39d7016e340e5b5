// SPDX-License-Identifier: BSD-3-Clause
// The messages of a matrix by descending size: the order in which bounds and schedulers for few bytes use
// them.
#pragma once

#include <vector>

#include "nuice/core/comm_matrix.hpp"

namespace nuice::core {

/// Returns the ids of all messages by descending size. Messages of equal size are by ascending id. O(m) time,
/// 36 bytes per message.
std::vector<MessageId> ids_by_size(const CommMatrix& matrix);

}  // namespace nuice::core
