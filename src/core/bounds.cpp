// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/bounds.hpp"

#include <algorithm>
#include <vector>

#include "core/by_size.hpp"

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

}  // namespace nuice
