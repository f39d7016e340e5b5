// SPDX-License-Identifier: BSD-3-Clause
// nuice/mpi/discover.hpp for a communicator that is ours already.
#pragma once

#include "mpi/communicator.hpp"
#include "nuice/mpi/discover.hpp"

namespace nuice::mpi {

/// One way, which `ask` goes: collective; row: checked, without empty messages; tag: one that the last call over this
/// communicator did not use. The sources come in any order. Null where active messages do it (drs/mpi/world.cpp).
struct DiscoveryWay {
  std::string_view name;
  std::vector<Partner> (*ask)(const Communicator& comm, std::span<const Partner> row, int tag);
};

/// Throws Error invalid_argument with the known names.
const DiscoveryWay& find_discovery(std::string_view name);

/// Collective. The sources by ascending rank, `way` having a function.
std::vector<Partner> sources_of(const Communicator& comm, std::span<const Partner> destinations,
                                const DiscoveryWay& way, int tag);

}  // namespace nuice::mpi
