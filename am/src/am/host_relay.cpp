// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/am/host_relay.hpp"

#include <cstring>
#include <string>

#include "am/endpoint_core.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::am {

HostRelay::HostRelay(Endpoint& endpoint, const Hosts& hosts)
    : endpoint_(endpoint), ranks_(static_cast<std::size_t>(hosts.num_hosts())) {
  if (hosts.num_ranks() != endpoint.num_ranks())
    throw Error(ErrorCode::invalid_argument, "hosts of " + std::to_string(hosts.num_ranks()) +
                                                 " ranks for an endpoint of " +
                                                 std::to_string(endpoint.num_ranks()));
  std::uint64_t fingerprint = 0;
  for (Rank rank = 0; rank < hosts.num_ranks(); ++rank) {
    const auto host = static_cast<std::size_t>(hosts.host_of(rank));
    if (rank == endpoint.rank()) own_place_ = ranks_[host].size();
    host_of_.push_back(host);
    ranks_[host].push_back(rank);
    fingerprint = mix64(fingerprint ^ (host + 1));
  }
  sizes_.resize(ranks_beside(endpoint.rank()).size());
  // The name includes the hosts, so seal() compares them.
  handler_ = endpoint.on<Batches>("hosts " + std::to_string(fingerprint),
                                  [this](const Context& context, const Batches& batches, Tail tail) {
                                    deal_out(context, batches, tail);
                                  });
  dealt_ = endpoint.on<Dealt>("dealt out", [this](const Context&, const Dealt& dealt, Tail items) {
    endpoint_.core().run_batch(dealt.source, dealt.handler, items);
  });
}

Rank HostRelay::dealer(Rank dst) const {
  const std::span<const Rank> ranks = ranks_beside(dst);
  return ranks[own_place_ % ranks.size()];
}

void HostRelay::deal_out(const Context& context, Batches batches, Tail tail) {
  const std::span<const Rank> ranks = ranks_beside(endpoint_.rank());
  const std::size_t head = ranks.size() * sizeof(std::uint32_t);
  if (tail.size() < head)
    detail::wrong_size(context, sizeof(Batches) + head, sizeof(Batches) + tail.size(), true);
  std::memcpy(sizes_.data(), tail.data(), head);
  std::size_t total = head;
  for (const std::uint32_t bytes : sizes_) total += bytes;
  if (tail.size() != total)
    detail::wrong_size(context, sizeof(Batches) + total, sizeof(Batches) + tail.size(), false);
  Tail own;
  std::size_t at = head;
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    const Tail items = tail.subspan(at, sizes_[place]);
    at += sizes_[place];
    if (items.empty()) continue;
    if (ranks[place] == endpoint_.rank()) {
      own = items;
    } else {
      endpoint_.send(ranks[place], dealt_, Dealt{context.source(), batches.handler}, items);
    }
  }
  if (!own.empty()) endpoint_.core().run_batch(context.source(), batches.handler, own);
}

}  // namespace nuice::am
