// SPDX-License-Identifier: BSD-3-Clause
// nuice/mpi_discover.hpp for a communicator that is ours already.
#pragma once

#include "exchange/mpi/communicator.hpp"
#include "nuice/mpi_discover.hpp"

namespace nuice::mpi {

/// Collective. row: checked, without empty messages. A tag that the last call over this communicator did not use.
std::vector<Partner> sources_of(const Communicator& comm, std::span<const Partner> row, Discovery way,
                                int tag);

}  // namespace nuice::mpi
