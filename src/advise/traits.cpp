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

struct Load {
  double messages = 0;
  double bytes = 0;
  double wire = 0;
};

Load load_of(const CommMatrix& matrix, const auto& ids, const Machine& machine) {
  Load load;
  for (const MessageId id : ids) {
    ++load.messages;
    load.bytes += static_cast<double>(matrix.bytes(id));
    load.wire += static_cast<double>(wire_bytes(machine, matrix.bytes(id)));
  }
  return load;
}

void note_sizes(const CommMatrix& matrix, const Machine& machine, Traits& traits) {
  if (matrix.num_messages() == 0) return;
  Bytes least = matrix.bytes(0);
  Bytes most = least;
  for (MessageId id = 1; id < matrix.num_messages(); ++id) {
    least = std::min(least, matrix.bytes(id));
    most = std::max(most, matrix.bytes(id));
  }
  traits.equal_sizes = least == most;
  traits.largest = static_cast<double>(most);
  traits.wire_largest = static_cast<double>(wire_bytes(machine, most));
}

}  // namespace

Traits traits_of(const CommMatrix& matrix, const Topology* topology, const Machine& machine) {
  Traits traits;
  traits.ranks = matrix.num_ranks();
  traits.messages = matrix.num_messages();
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    const Load out = load_of(matrix, matrix.sent_by(rank), machine);
    const Load in = load_of(matrix, matrix.received_by(rank), machine);
    traits.bytes += out.bytes;
    traits.wire += out.wire;
    traits.out_degree = std::max(traits.out_degree, out.messages);
    traits.in_degree = std::max(traits.in_degree, in.messages);
    traits.port_bytes = std::max({traits.port_bytes, out.bytes, in.bytes});
    traits.wire_in = std::max(traits.wire_in, in.wire);
    traits.wire_port = std::max({traits.wire_port, out.wire, in.wire});
    traits.wire_both = std::max(traits.wire_both, out.wire + in.wire);
  }
  traits.degree = std::max(traits.out_degree, traits.in_degree);
  note_sizes(matrix, machine, traits);
  sample(matrix, topology, traits);
  return traits;
}

}  // namespace nuice::advice
