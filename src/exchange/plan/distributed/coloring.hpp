// SPDX-License-Identifier: BSD-3-Clause
// Distributed edge colouring (schedulers/distributed/side.hpp) on MPI: the colours that ranks, or hosts, find together.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "exchange/plan/distributed/planners.hpp"

namespace nuice::mpi {

/// Between whom the messages of a problem are: ranks, or hosts, for each of which one rank speaks.
struct Vertices {
  Rank self;  ///< This rank's vertex; anything where it speaks for none, and has no messages.
  Rank count;
  std::function<Rank(Rank)> speaker;  ///< Of a vertex that this one has messages with.
  std::size_t most_letters = 1;       ///< In a round to one other, at most, of all ranks.
};

struct Colours {
  std::vector<distributed::Colour> sends;     ///< By message.
  std::vector<distributed::Colour> receives;  ///< Likewise.
  std::optional<distributed::Palette> palette = std::nullopt;
};

/// Collective. problem.facts are those of its messages, whoever they are between.
Colours find_colours(const LocalProblem& problem, const Vertices& vertices);

}  // namespace nuice::mpi
