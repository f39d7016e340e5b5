// SPDX-License-Identifier: BSD-3-Clause
// Following a changed matrix: what an earlier plan saves ranks that plan again without a matrix (Plan::follow()).
//
// Partners tell each other changes only; messages that are new look for phases by the walks of distributed colouring
// (schedulers/distributed/side.hpp), the others keep theirs unless a walk comes by; and only what has changed or moved is
// checked in pairs: of all else both ends know that it is as it was.
// Cost: messages to changed partners and about ten letters for each change; as many sums over all ranks as rounds, some 15 to 45.
#pragma once

#include "exchange/plan/distributed/local_plan.hpp"

namespace nuice::mpi {

/// The earlier plan of this rank. It must live as long.
class Followed {
 public:
  Followed(const PhaseTable& table, const distributed::Palette& palette)
      : table_(table),
        palette_(palette),
        sends_(messages_of(table.destinations, table.rank)),
        receives_(messages_of(table.sources, table.rank)) {}

  /// Collective. The ranks that send to this rank now. sends: the current ones.
  Messages sources(const Communicator& comm, SparseExchange& sparse, const Messages& sends) const;
  EarlierColours colours(const Messages& sends, const Messages& receives) const;
  /// What has its size and its phase still. (Phases may have other numbers, as some are no longer used; the same on all ranks.)
  Unchanged unchanged(const Messages& sends, const Messages& receives, const LocalPlan& plan) const;

 private:
  const PhaseTable& table_;
  const distributed::Palette& palette_;
  Messages sends_;
  Messages receives_;
};

}  // namespace nuice::mpi
