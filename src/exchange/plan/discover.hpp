// SPDX-License-Identifier: BSD-3-Clause
// nuice/mpi/discover.hpp for a communicator that is ours already.
#pragma once

#include "mpi/communicator.hpp"
#include "nuice/mpi/discover.hpp"

namespace nuice::mpi {

/// Collective. row: checked, without empty messages. A tag that the last call over this communicator did not use.
std::vector<Partner> sources_of(const Communicator& comm, std::span<const Partner> row, Discovery way,
                                int tag);

}  // namespace nuice::mpi
