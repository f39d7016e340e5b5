// SPDX-License-Identifier: BSD-3-Clause
// Distributed edge colouring (schedulers/distributed/side.hpp) on MPI: what a rank makes of its own messages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exchange/plan/distributed/messages.hpp"
#include "mpi/discover/sparse.hpp"
#include "nuice/core/phase_table.hpp"
#include "schedulers/distributed/palette.hpp"

namespace nuice::mpi {

/// What a plan that is followed leaves to the next: the phases of its table are its colours.
struct EarlierColours {
  const distributed::Palette* palette;
  std::vector<distributed::Colour> sends;     ///< By message of now; no_colour for one that is new.
  std::vector<distributed::Colour> receives;  ///< Likewise.
};

/// What is to be planned. All ranks have made theirs.
struct LocalProblem {
  const Communicator& comm;
  SparseExchange& sparse;
  const Messages& sends;
  const Messages& receives;
  const Facts& facts;
  std::uint64_t seed;
  std::optional<EarlierColours> earlier = std::nullopt;
};

/// By message, whether it is as it was in an earlier plan.
struct Unchanged {
  std::vector<bool> sends;
  std::vector<bool> receives;

  /// Collective. Of all ranks.
  MessageId count_sends(const Communicator& comm) const;
};

struct LocalPlan {
  PhaseTable table;            ///< But for the message of the rank to itself.
  std::vector<Bytes> largest;  ///< The largest transfer of each phase, of all ranks.
  /// By phase as planned, whether any rank uses it; the table has no others.
  std::vector<std::uint8_t> used;
  /// For a plan that follows.
  std::optional<distributed::Palette> palette = std::nullopt;
  /// Where there was an earlier plan: which messages have the colour that they had there.
  Unchanged kept = {};
};

/// Collective. Unused phases are left out.
LocalPlan plan_locally(const LocalProblem& problem);

}  // namespace nuice::mpi
