// SPDX-License-Identifier: BSD-3-Clause
// Follows a changed matrix: uses an earlier plan when ranks plan again without a matrix (Plan::follow()).
//
// Partners send each other only changes. New messages find phases by the walks of distributed colouring
// (schedulers/distributed/side.hpp); other messages keep their phases unless a walk moves them. Pairs of
// ranks check only messages that have changed or moved, because both ends know that all others are as before.
// Cost: messages to partners with changes, about ten control messages per change, and a sum over all ranks
// per round, for 15 to 45 rounds.
#pragma once

#include "exchange/plan/distributed/local_plan.hpp"

namespace nuice::mpi {

/// The earlier plan of this rank. The arguments must outlive it.
class Followed {
 public:
  Followed(const PhaseTable& table, const distributed::Palette& palette)
      : table_(table),
        palette_(palette),
        sends_(messages_of(table.destinations, table.rank)),
        receives_(messages_of(table.sources, table.rank)) {}

  /// Collective. Returns the messages that this rank receives now. sends: its current sends.
  Messages sources(const Communicator& comm, SparseExchange& sparse, const Messages& sends) const;
  EarlierColours colours(const Messages& sends, const Messages& receives) const;
  /// Returns which messages have kept their size and their phase. (Phases may have new numbers, the same on
  /// all ranks, because some phases are no longer used.)
  Unchanged unchanged(const Messages& sends, const Messages& receives, const LocalPlan& plan) const;

 private:
  const PhaseTable& table_;
  const distributed::Palette& palette_;
  Messages sends_;
  Messages receives_;
};

}  // namespace nuice::mpi
