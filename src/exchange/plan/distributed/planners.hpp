// SPDX-License-Identifier: BSD-3-Clause
// The schedulers that need no matrix, one row each: what a rank makes of its own messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exchange/plan/distributed/messages.hpp"
#include "mpi/discover/sparse.hpp"
#include "nuice/core/phase_table.hpp"
#include "schedulers/distributed/palette.hpp"
#include "schedulers/distributed/table_of.hpp"

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
  std::optional<EarlierColours> earlier = std::nullopt;  ///< Only for planners that leave a palette.
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
  /// For a plan that may be followed.
  std::optional<distributed::Palette> palette = std::nullopt;
  /// Where there was an earlier plan: which messages have the colour that they had there.
  Unchanged kept = {};
};

struct LocalPlanner {
  std::string_view name;                   ///< Of a scheduler, the first where it has several.
  LocalPlan (*plan)(const LocalProblem&);  ///< Collective.
};

/// Collective. A planner's table, from a phase below num_phases for each message; phases that no rank uses are left out. Inside a phase
/// the order counts.
LocalPlan plan_of(const LocalProblem& problem, std::vector<distributed::Placed> sends,
                  std::vector<distributed::Placed> receives, std::size_t num_phases);

/// phase(i): of the message with that index.
template <typename Phase>
std::vector<distributed::Placed> placed(const Messages& messages, Phase&& phase) {
  std::vector<distributed::Placed> all;
  for (std::size_t i = 0; i < messages.size(); ++i)
    all.push_back({static_cast<PhaseId>(phase(i)), messages.partners[i], messages.bytes[i]});
  return all;
}

/// The row for a scheduler, also under its second names; null where it needs the matrix.
const LocalPlanner* local_planner(std::string_view scheduler);
/// "distributed_coloring, ac, ..."
std::string local_planner_names();

}  // namespace nuice::mpi
