// SPDX-License-Identifier: BSD-3-Clause
#include "halo/lists.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/agree.hpp"

namespace nuice::mpi {
namespace {

constexpr Bytes value_bytes = sizeof(std::int64_t);

}  // namespace

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

Plan plan_for(const Communicator& comm, const Lists& outgoing, const PlanOptions& options) {
  std::vector<Partner> destinations;
  all_or_none(comm, [&] {
    for (std::size_t p = 0; p < outgoing.num_partners(); ++p)
      destinations.push_back({outgoing.ranks[p], static_cast<Bytes>(outgoing.list(p).size()) * value_bytes});
  });
  return Plan(comm.get(), destinations, options);
}

Lists exchange_lists(const Communicator& comm, Plan& plan, const Lists& outgoing) {
  Lists incoming;
  std::vector<SendBuffer> send;
  std::vector<ReceiveBuffer> receive;
  all_or_none(comm, [&] {
    for (const Partner& source : plan.sources()) {
      incoming.ranks.push_back(source.rank);
      incoming.begin.push_back(incoming.begin.back() + static_cast<std::size_t>(source.bytes / value_bytes));
    }
    incoming.values.resize(incoming.begin.back());
    for (std::size_t p = 0; p < outgoing.num_partners(); ++p)
      send.push_back({outgoing.list(p).data(), plan.destinations()[p].bytes});
    for (std::size_t p = 0; p < incoming.num_partners(); ++p)
      receive.push_back({incoming.values.data() + incoming.begin[p], plan.sources()[p].bytes});
  });
  Exchange exchange = plan.bind(send, receive);
  exchange.start();
  exchange.wait();
  return incoming;
}

Lists exchange_lists(const Communicator& comm, const Lists& outgoing) {
  Plan plan = plan_for(comm, outgoing, {.scheduler = "ac", .executor = Executor::async});
  return exchange_lists(comm, plan, outgoing);
}

}  // namespace nuice::mpi
