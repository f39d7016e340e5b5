// SPDX-License-Identifier: BSD-3-Clause
// A directory of owners, distributed over the ranks. Global index g is registered with rank hash(g) mod
// num_ranks, and ranks that look for its owner ask that rank. A hash is used because indices may be sparse
// and owners may cluster.
//
// Cost: three exchanges, of 8 bytes per owned index, per question and per answer. Memory: O(own indices +
// questions that this rank answers).
#pragma once

#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/core/types.hpp"
#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Collective. Returns the owner of each index in `wanted`; no_rank if no rank owns the index. owned: the
/// indices that this rank owns. If two ranks own an index, throws Error `invalid_argument` on all ranks, with
/// this index.
std::vector<Rank> find_in_directory(const Communicator& comm, std::span<const GlobalIndex> owned,
                                    std::span<const GlobalIndex> wanted);

}  // namespace nuice::mpi
