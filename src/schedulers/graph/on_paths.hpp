// SPDX-License-Identifier: BSD-3-Clause
// link_coloring and link_list for ways that were chosen beforehand.
#pragma once

#include <cstdint>
#include <span>

#include "nuice/plan/scheduler.hpp"

namespace nuice::sched {

/// paths: of each message, or empty: all take the network's routes. Requires why_not_link_free() to be empty.
Schedule color_on_paths(const Problem& problem, std::span<const std::int64_t> paths);
Schedule list_on_paths(const Problem& problem, std::span<const std::int64_t> paths);

}  // namespace nuice::sched
