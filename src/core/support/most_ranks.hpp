// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice::core {

/// Throws Error `limit` for too many ranks. Call it before memory is allocated for each rank.
inline void require_at_most_max_ranks(Rank num_ranks) {
  if (num_ranks > max_ranks)
    throw Error(ErrorCode::limit,
                std::to_string(num_ranks) + " ranks, more than " + std::to_string(max_ranks));
}

}  // namespace nuice::core
