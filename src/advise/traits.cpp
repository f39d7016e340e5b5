// SPDX-License-Identifier: BSD-3-Clause
#include "advise/traits.hpp"

#include <algorithm>
#include <vector>

namespace nuice::advice {
namespace {

constexpr MessageId most_samples = 1000;

/// Routes and partners of some messages, evenly spread over their ids.
void sample(const CommMatrix& matrix, const Topology* topology, Traits& traits) {
  const MessageId stride = std::max<MessageId>(1, matrix.num_messages() / most_samples);
  std::vector<LinkId> route;
  double samples = 0;
  double links = 0;
  double answered = 0;
  for (MessageId id = 0; id < matrix.num_messages(); id += std::min(stride, matrix.num_messages() - id)) {
    route.clear();
    if (topology != nullptr) topology->append_route(matrix.src(id), matrix.dst(id), route);
    links += static_cast<double>(route.size());
    answered += matrix.find(matrix.dst(id), matrix.src(id)).has_value() ? 1 : 0;
    ++samples;
  }
  if (samples == 0) return;
  traits.hops = links / samples;
  traits.symmetry = answered / samples;
}

}  // namespace

Traits traits_of(const CommMatrix& matrix, const Topology* topology) {
  Traits traits;
  traits.ranks = matrix.num_ranks();
  traits.messages = matrix.num_messages();
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    double out = 0;
    double in = 0;
    for (const MessageId id : matrix.sent_by(rank)) {
      const auto bytes = static_cast<double>(matrix.bytes(id));
      out += bytes;
      traits.largest = std::max(traits.largest, bytes);
      traits.smallest = traits.smallest == 0 ? bytes : std::min(traits.smallest, bytes);
    }
    for (const MessageId id : matrix.received_by(rank)) in += static_cast<double>(matrix.bytes(id));
    traits.bytes += out;
    traits.out_degree = std::max(traits.out_degree, static_cast<double>(matrix.sent_by(rank).size()));
    traits.in_degree = std::max(traits.in_degree, static_cast<double>(matrix.received_by(rank).size()));
    traits.out_bytes = std::max(traits.out_bytes, out);
    traits.in_bytes = std::max(traits.in_bytes, in);
    traits.both_bytes = std::max(traits.both_bytes, out + in);
  }
  traits.degree = std::max(traits.out_degree, traits.in_degree);
  traits.port_bytes = std::max(traits.out_bytes, traits.in_bytes);
  sample(matrix, topology, traits);
  return traits;
}

}  // namespace nuice::advice
