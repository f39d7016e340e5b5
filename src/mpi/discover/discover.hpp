// SPDX-License-Identifier: BSD-3-Clause
// nuice/mpi/discover.hpp for a communicator of the library.
#pragma once

#include "mpi/communicator.hpp"
#include "nuice/mpi/discover.hpp"

namespace nuice::mpi {

/// A discovery method. `ask` is collective and returns the sources in any order. Its arguments: row, this
/// rank's destinations, which are checked and have no empty messages; and tag, which must differ from the tag
/// of the last call on this communicator. `ask` is null if the method uses active messages
/// (drs/mpi/world.cpp).
struct DiscoveryWay {
  std::string_view name;
  std::vector<Partner> (*ask)(const Communicator& comm, std::span<const Partner> row, int tag);
};

/// Throws Error `invalid_argument` with the known names.
const DiscoveryWay& find_discovery(std::string_view name);

/// Collective. Returns the sources by ascending rank. way.ask must not be null.
std::vector<Partner> sources_of(const Communicator& comm, std::span<const Partner> destinations,
                                const DiscoveryWay& way, int tag);

}  // namespace nuice::mpi
