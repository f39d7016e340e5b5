// SPDX-License-Identifier: BSD-3-Clause
// Distributed edge colouring (schedulers/distributed/side.hpp) on MPI: the colours that ranks find together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "exchange/plan/distributed/planners.hpp"

namespace nuice::mpi {

struct Colours {
  std::vector<distributed::Colour> sends;     ///< By message.
  std::vector<distributed::Colour> receives;  ///< Likewise.
  std::optional<distributed::Palette> palette = std::nullopt;
};

/// Collective.
Colours find_colours(const LocalProblem& problem);

}  // namespace nuice::mpi
