// SPDX-License-Identifier: BSD-3-Clause
// Plans a rank's own messages by distributed edge colouring (schedulers/distributed/side.hpp) over MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exchange/plan/distributed/messages.hpp"
#include "mpi/discover/sparse.hpp"
#include "nuice/core/phase_table.hpp"
#include "schedulers/distributed/palette.hpp"

namespace nuice::mpi {

/// The colours of an earlier plan, for a plan that follows it. They are the phases of its table.
struct EarlierColours {
  const distributed::Palette* palette;
  std::vector<distributed::Colour> sends;     ///< By current message; no_colour for a new message.
  std::vector<distributed::Colour> receives;  ///< The same for the messages that this rank receives.
};

/// The input of plan_locally(), which all ranks have made.
struct LocalProblem {
  const Communicator& comm;
  SparseExchange& sparse;
  const Messages& sends;
  const Messages& receives;
  const Facts& facts;
  std::uint64_t seed;
  std::optional<EarlierColours> earlier = std::nullopt;
};

/// For each message, whether it is the same as in an earlier plan.
struct Unchanged {
  std::vector<bool> sends;
  std::vector<bool> receives;

  /// Collective. Returns the number of unchanged messages of all ranks.
  MessageId count_sends(const Communicator& comm) const;
};

struct LocalPlan {
  PhaseTable table;            ///< Without the message of the rank to itself.
  std::vector<Bytes> largest;  ///< The largest transfer of each phase, of all ranks.

  /// One flag per planned phase: whether any rank uses it. `table` has used phases only.
  std::vector<std::uint8_t> used;
  /// For a plan that follows.
  std::optional<distributed::Palette> palette = std::nullopt;
  /// If there was an earlier plan: which messages have kept their colour.
  Unchanged kept = {};
};

/// Collective. Makes the plan; unused phases are left out.
LocalPlan plan_locally(const LocalProblem& problem);

}  // namespace nuice::mpi
