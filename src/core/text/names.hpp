// SPDX-License-Identifier: BSD-3-Clause
// The names of ranks in error texts.
#pragma once

#include <string>

#include "nuice/core/types.hpp"

namespace nuice {

inline std::string rank_name(Rank rank) { return "rank " + std::to_string(rank); }
inline std::string pair_name(Rank src, Rank dst) { return rank_name(src) + " -> " + rank_name(dst); }

}  // namespace nuice
