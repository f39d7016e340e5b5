// SPDX-License-Identifier: BSD-3-Clause
// The distributed check (nuice/core/check_pairs.hpp) by all ranks in one process.
#pragma once

#include <functional>
#include <optional>

#include "nuice/core/check.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::scale {

/// table(rank): of each, made again when asked for. Returns the first violation, by check_alone() with one_port of the lowest
/// rank that finds one, otherwise by compare_claims(). on_progress: told how much is done, 0 to 1.
/// Cost: every table is made a few times; 32 bytes for an eighth of all messages.
std::optional<Violation> check_all(Rank num_ranks, const std::function<PhaseTable(Rank)>& table,
                                   const std::function<void(double)>& on_progress);

}  // namespace nuice::scale
