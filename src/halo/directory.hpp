// SPDX-License-Identifier: BSD-3-Clause
// A directory of owners, spread over the ranks: global index g is registered with rank hash(g) mod num_ranks,
// and a rank that wants to know asks there. A hash, because indices may be sparse and owners may cluster.
//
// Cost: three exchanges, of 8 bytes per owned index, per question and per answer; memory O(own + asked here).
#pragma once

#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/core/types.hpp"
#include "nuice/mpi/halo_field.hpp"

namespace nuice::mpi {

/// Collective. owned: what this rank owns. The owners of `wanted`, no_rank for what no rank owns.
/// Throws Error invalid_argument, on all ranks, with an index that two ranks own.
std::vector<Rank> find_in_directory(const Communicator& comm, std::span<const GlobalIndex> owned,
                                    std::span<const GlobalIndex> wanted);

}  // namespace nuice::mpi
