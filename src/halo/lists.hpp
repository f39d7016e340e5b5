// SPDX-License-Identifier: BSD-3-Clause
// Lists of numbers that the ranks send each other while a halo is made: requests, look-ups, answers. Plans find
// out who sends to whom, so the library carries its own set-up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {

/// For or from ranks[p]: values[begin[p] .. begin[p + 1]). Ranks ascend.
struct Lists {
  std::vector<Rank> ranks;
  std::vector<std::size_t> begin{0};
  std::vector<std::int64_t> values;

  std::size_t num_partners() const { return ranks.size(); }
  std::span<const std::int64_t> list(std::size_t partner) const {
    return {values.data() + begin[partner], begin[partner + 1] - begin[partner]};
  }
};

/// Puts values[i] on the list for ranks[i]; within a list they keep their order.
Lists group(std::span<const Rank> ranks, std::span<const std::int64_t> values);

/// Collective. A plan that carries these lists.
Plan plan_for(const Communicator& comm, const Lists& outgoing, const PlanOptions& options);

/// Collective. What all ranks have put on their lists for this one. `plan` is plan_for() the same lists.
Lists exchange_lists(const Communicator& comm, Plan& plan, const Lists& outgoing);

/// Collective. The same with a plan of its own.
Lists exchange_lists(const Communicator& comm, const Lists& outgoing);

}  // namespace nuice::mpi
