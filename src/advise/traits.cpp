// SPDX-License-Identifier: BSD-3-Clause
#include "advise/traits.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace nuice::advice {
namespace {

constexpr MessageId most_routes = 1000;
constexpr MessageId most_samples = 128;

/// Calls visit(id) for all messages, or for `most` of them. These are spread evenly by steps of the golden
/// ratio: equal strides would meet the same neighbour of each rank in a regular matrix.
void for_sample(const CommMatrix& matrix, MessageId most, const auto& visit) {
  const std::uint64_t messages = matrix.num_messages();
  auto step =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(0.6180339887 * static_cast<double>(messages)));
  while (std::gcd(step, messages) > 1) ++step;
  std::uint64_t id = 0;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(most, messages); ++i) {
    visit(static_cast<MessageId>(id));
    id = (id + step) % messages;
  }
}

/// Returns the average route length of a sample of messages. Returns 0 without a topology.
double mean_hops(const CommMatrix& matrix, const Topology* topology) {
  if (topology == nullptr) return 0;
  std::vector<LinkId> route;
  double samples = 0;
  double links = 0;
  for_sample(matrix, most_routes, [&](MessageId id) {
    route.clear();
    topology->append_route(matrix.src(id), matrix.dst(id), route);
    links += static_cast<double>(route.size());
    ++samples;
  });
  return samples == 0 ? 0 : links / samples;
}

Load load_of(const CommMatrix& matrix, const auto& ids, const Machine& machine, const Sizes& sizes) {
  Load load;
  for (const MessageId id : ids) {
    if (sizes.contains(matrix.bytes(id))) load.add(1, matrix.bytes(id), machine);
  }
  return load;
}

void note_sizes(const CommMatrix& matrix, const Machine& machine, const Sizes& sizes, Traits& traits) {
  if (traits.messages == 0) return;
  Bytes least = max_bytes;
  Bytes most = 0;
  double squares = 0;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    if (!sizes.contains(matrix.bytes(id))) continue;
    least = std::min(least, matrix.bytes(id));
    most = std::max(most, matrix.bytes(id));
    squares += static_cast<double>(matrix.bytes(id)) * static_cast<double>(matrix.bytes(id));
  }
  traits.typical = squares / std::max(1.0, traits.bytes);
  traits.equal_sizes = least == most;
  traits.largest = static_cast<double>(most);
  traits.wire_largest = static_cast<double>(wire_bytes(machine, most));
}

}  // namespace

Traits traits_of(const CommMatrix& matrix, const Topology* topology, const Machine& machine,
                 const Sizes& sizes) {
  Traits traits;
  traits.ranks = matrix.num_ranks();
  traits.ports.reserve(static_cast<std::size_t>(matrix.num_ranks()));
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    const Load out = load_of(matrix, matrix.sent_by(rank), machine, sizes);
    const Load in = load_of(matrix, matrix.received_by(rank), machine, sizes);
    traits.messages += out.messages;
    traits.bytes += out.bytes;
    traits.wire += out.wire;
    traits.out_degree = std::max(traits.out_degree, out.messages);
    traits.in_degree = std::max(traits.in_degree, in.messages);
    traits.port = std::max({traits.port, out.bytes, in.bytes});
    traits.wire_port = std::max({traits.wire_port, out.wire, in.wire});
    traits.ports.push_back({out, in});
  }
  traits.degree = std::max(traits.out_degree, traits.in_degree);
  note_sizes(matrix, machine, sizes, traits);
  traits.hops = mean_hops(matrix, topology);
  for_sample(matrix, most_samples, [&](MessageId id) {
    const std::int64_t distance = std::int64_t{matrix.dst(id)} - matrix.src(id);
    traits.samples.push_back(
        {(distance + matrix.num_ranks()) % matrix.num_ranks(), static_cast<double>(matrix.bytes(id))});
  });
  return traits;
}

}  // namespace nuice::advice
