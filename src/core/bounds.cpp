// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/bounds.hpp"

#include <algorithm>
#include <vector>

#include "core/by_size.hpp"
#include "nuice/error.hpp"

namespace nuice {
namespace {

template <typename Ids>
Bytes sum_bytes(const CommMatrix& matrix, const Ids& ids) {
  Bytes sum = 0;
  for (const MessageId id : ids) sum += matrix.bytes(id);
  return sum;
}

void raise(Bounds& bounds, Rank rank, Direction direction, MessageId degree, Bytes bytes) {
  if (degree > bounds.max_degree) {
    bounds.max_degree = degree;
    bounds.max_degree_at = {rank, direction};
  }
  if (bytes > bounds.max_port_bytes) {
    bounds.max_port_bytes = bytes;
    bounds.max_port_bytes_at = {rank, direction};
  }
}

}  // namespace

Bounds lower_bounds(const CommMatrix& matrix) {
  Bounds bounds;
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    const auto sent = matrix.sent_by(rank);
    const Bytes bytes = sum_bytes(matrix, sent);
    raise(bounds, rank, Direction::send, static_cast<MessageId>(sent.size()), bytes);
    bounds.total_bytes += bytes;
  }
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    const auto received = matrix.received_by(rank);
    raise(bounds, rank, Direction::receive, static_cast<MessageId>(received.size()),
          sum_bytes(matrix, received));
  }
  return bounds;
}

/// Largest first, the k-th message that a rank is given is its k-th largest; the first rank to get to k has the largest
/// k-th-largest message of all.
Bytes whole_message_bytes(const CommMatrix& matrix) {
  std::vector<MessageId> sent(static_cast<std::size_t>(matrix.num_ranks()), 0);
  std::vector<MessageId> received(sent);
  MessageId k = 0;
  Bytes sum = 0;
  for (const MessageId id : core::ids_by_size(matrix)) {
    const MessageId most = std::max(++sent[static_cast<std::size_t>(matrix.src(id))],
                                    ++received[static_cast<std::size_t>(matrix.dst(id))]);
    if (most <= k) continue;
    k = most;
    sum += matrix.bytes(id);
  }
  return sum;
}

LinkBounds link_bounds(const CommMatrix& matrix, const Topology& topology) {
  if (topology.num_ranks() < matrix.num_ranks()) {
    throw Error(ErrorCode::mismatch, "topology " + topology.name() + " has " +
                                         std::to_string(topology.num_ranks()) + " ranks, the matrix has " +
                                         std::to_string(matrix.num_ranks()));
  }
  struct Load {
    std::int64_t messages = 0;
    Bytes bytes = 0;  // of all messages at most, so no overflow
  };
  std::vector<Load> loads(static_cast<std::size_t>(topology.num_links()));
  std::vector<LinkId> route;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    route.clear();
    topology.append_route(matrix.src(id), matrix.dst(id), route);
    for (const LinkId link : route) {
      Load& load = loads[static_cast<std::size_t>(link)];
      ++load.messages;
      load.bytes += matrix.bytes(id);
    }
  }
  LinkBounds bounds;
  for (LinkId link = 0; link < topology.num_links(); ++link) {
    const Load& load = loads[static_cast<std::size_t>(link)];
    if (load.messages == 0) continue;
    const std::int64_t slots = topology.link(link).slots();
    const std::int64_t phases = (load.messages - 1) / slots + 1;
    const Bytes bytes = (load.bytes - 1) / slots + 1;
    if (phases > bounds.phases) {
      bounds.phases = phases;
      bounds.phases_at = link;
    }
    if (bytes > bounds.bytes) {
      bounds.bytes = bytes;
      bounds.bytes_at = link;
    }
  }
  return bounds;
}

}  // namespace nuice
