// SPDX-License-Identifier: BSD-3-Clause
// The messages of a matrix, largest first: the order in which bounds and schedulers for few bytes take them.
#pragma once

#include <vector>

#include "nuice/core/comm_matrix.hpp"

namespace nuice::core {

/// Ids of all messages by descending size, equal ones by ascending id. O(m) time, 36 bytes per message.
std::vector<MessageId> ids_by_size(const CommMatrix& matrix);

}  // namespace nuice::core
