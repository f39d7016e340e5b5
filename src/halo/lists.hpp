// SPDX-License-Identifier: BSD-3-Clause
// Lists of numbers by partner. While a halo is made, ranks send each other such lists: requests, look-ups and
// answers. Plans find out which rank sends to which, so the library's own exchanges carry them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/agree.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {

/// Lists for (or from) several ranks, by ascending rank. The list of ranks[p] is values[begin[p] .. begin[p +
/// 1]).
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
  /// Returns the partners, with the bytes of each list if a value has `bytes` bytes.
  std::vector<Partner> messages(Bytes bytes) const {
    std::vector<Partner> all;
    for (std::size_t p = 0; p < num_partners(); ++p)
      all.push_back({ranks[p], static_cast<Bytes>(size(p)) * bytes});
    return all;
  }
};
using Lists = ListsOf<std::int64_t>;

/// Puts values[i] on the list for ranks[i]. Within a list the values keep their order.
Lists group(std::span<const Rank> ranks, std::span<const std::int64_t> values);

/// Collective. Makes a plan that carries these lists with value_bytes bytes per value.
template <typename Value>
Plan plan_for(const Communicator& comm, const ListsOf<Value>& outgoing, Bytes value_bytes,
              const PlanOptions& options) {
  std::vector<Partner> destinations;
  all_or_none(comm, [&] { destinations = outgoing.messages(value_bytes); });
  return Plan(comm.get(), destinations, options);
}

/// Collective. Returns the lists of all ranks for this rank. `plan` must be plan_for() of the same lists and
/// bytes.
Lists exchange_lists(const Communicator& comm, Plan& plan, Bytes value_bytes, const Lists& outgoing);

/// Collective. Makes a plan for this exchange only.
Lists exchange_lists(const Communicator& comm, const Lists& outgoing);

}  // namespace nuice::mpi
