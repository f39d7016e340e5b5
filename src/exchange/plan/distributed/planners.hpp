// SPDX-License-Identifier: BSD-3-Clause
// The schedulers that need no matrix, one row each: what a rank makes of its own messages.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "exchange/plan/distributed/messages.hpp"
#include "mpi/discover/sparse.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// What is to be planned. All ranks have made theirs.
struct LocalProblem {
  const Communicator& comm;
  SparseExchange& sparse;
  const Messages& sends;
  const Messages& receives;
  const Facts& facts;
  std::uint64_t seed;
};

struct LocalPlan {
  PhaseTable table;            ///< But for the message of the rank to itself.
  std::vector<Bytes> largest;  ///< The largest transfer of each phase, of all ranks.
};

struct LocalPlanner {
  std::string_view name;                   ///< Of a scheduler, the first where it has several.
  LocalPlan (*plan)(const LocalProblem&);  ///< Collective.
};

/// The row for a scheduler, also under its second names; null where it needs the matrix.
const LocalPlanner* local_planner(std::string_view scheduler);
/// "distributed_coloring, ac, ..."
std::string local_planner_names();

}  // namespace nuice::mpi
