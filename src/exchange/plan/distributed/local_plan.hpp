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

/// The colours of an earlier plan, for a plan that follows it. A colour is a phase of the earlier plan's
/// table.
struct EarlierColours {
  /// For each message, the earlier colours of its pieces, by number; empty for a new message.
  using OfMessages = std::vector<std::vector<distributed::Colour>>;

  const distributed::Palette* palette;
  OfMessages sends;     ///< Of the messages that this rank sends now.
  OfMessages receives;  ///< Of the messages that this rank receives now.
};

/// The input of plan_locally(), which all ranks have made.
struct LocalProblem {
  const Communicator& comm;
  SparseExchange& sparse;
  const Messages& sends;
  const Messages& receives;
  const Facts& facts;
  std::uint64_t seed;
  Bytes phase_cost_bytes;
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
  PhaseTable table;            ///< Without the rank's message to itself.
  std::vector<Bytes> largest;  ///< The largest transfer of each phase, of all ranks.

  /// One flag per planned phase: whether any rank uses it. `table` has used phases only.
  std::vector<std::uint8_t> used;
  /// For a plan that follows.
  std::optional<distributed::Palette> palette = std::nullopt;
  /// Which messages have kept the colour of the earlier plan, if there was one.
  Unchanged kept = {};
};

/// Collective. Makes the plan; unused phases are left out.
LocalPlan plan_locally(const LocalProblem& problem);

}  // namespace nuice::mpi
