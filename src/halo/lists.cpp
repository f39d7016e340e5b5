// SPDX-License-Identifier: BSD-3-Clause
#include "halo/lists.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/agree.hpp"

namespace nuice::mpi {
Lists group(std::span<const Rank> ranks, std::span<const std::int64_t> values) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
  Lists lists;
  for (const std::size_t i : order) {
    if (lists.ranks.empty() || lists.ranks.back() != ranks[i]) {
      lists.ranks.push_back(ranks[i]);
      lists.begin.push_back(lists.values.size());
    }
    lists.values.push_back(values[i]);
    lists.begin.back() = lists.values.size();
  }
  return lists;
}

Lists exchange_lists(const Communicator& comm, Plan& plan, Bytes value_bytes, const Lists& outgoing) {
  Lists incoming;
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> received;
  all_or_none(comm, [&] {
    for (std::size_t p = 0; p < outgoing.num_partners(); ++p) sent.push_back(std::ssize(outgoing.list(p)));
    for (const Partner& source : plan.sources()) {
      received.push_back(source.bytes / value_bytes);
      incoming.ranks.push_back(source.rank);
      incoming.begin.push_back(incoming.begin.back() + static_cast<std::size_t>(received.back()));
    }
    incoming.values.resize(incoming.begin.back());
  });
  const SendField from{outgoing.values.data(), MPI_INT64_T, sent, {}};
  const ReceiveField to{incoming.values.data(), MPI_INT64_T, received, {}};
  Exchange exchange = plan.bind(std::span(&from, 1), std::span(&to, 1));
  exchange.start();
  exchange.wait();
  return incoming;
}

Lists exchange_lists(const Communicator& comm, const Lists& outgoing) {
  constexpr Bytes value_bytes = sizeof(std::int64_t);
  Plan plan = plan_for(comm, outgoing, value_bytes, {.scheduler = "ac", .executor = "async"});
  return exchange_lists(comm, plan, value_bytes, outgoing);
}

}  // namespace nuice::mpi
