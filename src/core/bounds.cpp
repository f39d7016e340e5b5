// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/bounds.hpp"

#include <algorithm>
#include <vector>

#include "core/by_size.hpp"
#include "nuice/core/error.hpp"

namespace nuice {
namespace {

template <typename Ids>
Bytes sum_bytes(const CommMatrix& matrix, const Ids& ids) {
  Bytes sum = 0;
  for (const MessageId id : ids) sum += matrix.bytes(id);
  return sum;
}

void require_ranks(const Topology& topology, Rank num_ranks, const std::string& who_has) {
  if (topology.num_ranks() >= num_ranks) return;
  throw Error(ErrorCode::mismatch, "topology " + topology.name() + " has " +
                                       std::to_string(topology.num_ranks()) + " ranks, " + who_has + " " +
                                       std::to_string(num_ranks));
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

/// Takes messages by descending size, so the k-th message of a rank is its k-th largest. The first rank that
/// gets a k-th message therefore has the largest k-th message of all ranks.
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
  require_ranks(topology, matrix.num_ranks(), "the matrix has");
  struct Load {
    std::int64_t messages = 0;
    Bytes bytes = 0;  // at most the sum of all messages, so no overflow
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

std::int64_t link_rounds(const Schedule& schedule, const Topology& topology) {
  require_ranks(topology, schedule.num_ranks(), "the schedule is for");
  std::vector<std::int64_t> load(static_cast<std::size_t>(topology.num_links()), 0);
  std::vector<LinkId> crossed;
  std::int64_t sum = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    crossed.clear();
    for (const Transfer& transfer : schedule.transfers(phase)) {
      if (std::min(transfer.src, transfer.dst) < 0 ||
          std::max(transfer.src, transfer.dst) >= schedule.num_ranks()) {
        throw Error(ErrorCode::invalid_argument,
                    "phase " + std::to_string(phase) + ": transfer rank " + std::to_string(transfer.src) +
                        " -> rank " + std::to_string(transfer.dst) + " has an end that is not a rank");
      }
      topology.append_way(transfer.src, transfer.dst, transfer.path, crossed);
    }
    for (const LinkId link : crossed) ++load[static_cast<std::size_t>(link)];
    std::int64_t rounds = 1;
    for (const LinkId link : crossed) {
      std::int64_t& transfers = load[static_cast<std::size_t>(link)];
      if (transfers > rounds) rounds = std::max(rounds, (transfers - 1) / topology.link(link).slots() + 1);
      transfers = 0;
    }
    sum += rounds;
  }
  return sum;
}

}  // namespace nuice
