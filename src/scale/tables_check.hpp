// SPDX-License-Identifier: BSD-3-Clause
// The distributed check (nuice/core/check_pairs.hpp) for all ranks in one process.
#pragma once

#include <functional>
#include <optional>

#include "nuice/core/check.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::scale {

/// Checks the tables of all ranks. table(rank) makes the table of a rank, and is called a few times per rank.
/// If check_alone() with one_port finds violations, returns the first violation of the lowest rank that has
/// one. Otherwise returns the first violation that compare_claims() finds. on_progress gets the finished
/// share, 0 to 1. Memory: 32 bytes for an eighth of all messages.
std::optional<Violation> check_all(Rank num_ranks, const std::function<PhaseTable(Rank)>& table,
                                   const std::function<void(double)>& on_progress);

}  // namespace nuice::scale
