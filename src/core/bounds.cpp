// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/bounds.hpp"

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

}  // namespace nuice
