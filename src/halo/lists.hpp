// SPDX-License-Identifier: BSD-3-Clause
// Numbers by partner. Lists of them are what the ranks send each other while a halo is made: requests, look-ups, answers.
// Plans find out which rank sends to which, so the library carries its own set-up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/agree.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {

/// For or from ranks[p]: values[begin[p] .. begin[p + 1]). Ranks ascend.
template <typename Value>
struct ListsOf {
  std::vector<Rank> ranks;
  std::vector<std::size_t> begin{0};
  std::vector<Value> values;

  std::size_t num_partners() const { return ranks.size(); }
  std::size_t size(std::size_t partner) const { return begin[partner + 1] - begin[partner]; }
  std::span<const Value> list(std::size_t partner) const {
    return {values.data() + begin[partner], size(partner)};
  }
  /// What a message to or from each of them has, with a number of bytes for each value.
  std::vector<Partner> messages(Bytes bytes) const {
    std::vector<Partner> all;
    for (std::size_t p = 0; p < num_partners(); ++p)
      all.push_back({ranks[p], static_cast<Bytes>(size(p)) * bytes});
    return all;
  }
};
using Lists = ListsOf<std::int64_t>;

/// Puts values[i] on the list for ranks[i]; within a list they keep their order.
Lists group(std::span<const Rank> ranks, std::span<const std::int64_t> values);

/// Collective. A plan that carries these lists, made for a number of bytes a value.
template <typename Value>
Plan plan_for(const Communicator& comm, const ListsOf<Value>& outgoing, Bytes value_bytes,
              const PlanOptions& options) {
  std::vector<Partner> destinations;
  all_or_none(comm, [&] { destinations = outgoing.messages(value_bytes); });
  return Plan(comm.get(), destinations, options);
}

/// Collective. What all ranks have put on their lists for this one. `plan` is plan_for() the same lists and bytes.
Lists exchange_lists(const Communicator& comm, Plan& plan, Bytes value_bytes, const Lists& outgoing);

/// Collective. The same with a plan of its own.
Lists exchange_lists(const Communicator& comm, const Lists& outgoing);

}  // namespace nuice::mpi
