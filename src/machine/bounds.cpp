// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on the time of any execution, from the busiest port and the busiest link.
#include <algorithm>
#include <vector>

#include "nuice/plan/simulate.hpp"

namespace nuice {
namespace {

/// Returns the minimum number of bytes on the wire for this number of data bytes, however they are divided
/// into packets. Packets are not padded.
double least_wire(const Machine& machine, Bytes bytes) {
  const auto exact = static_cast<double>(bytes);
  if (machine.packet_payload == 0) return exact;
  return exact *
         (1 + static_cast<double>(machine.packet_header) / static_cast<double>(machine.packet_payload));
}

/// Returns the cost of a single message of 0 bytes.
double least_overhead(const Machine& machine) {
  return machine.send_overhead_s - machine.exchange_saves_s + machine.start_up_s + machine.latency_s +
         machine.receive_overhead_s;
}

}  // namespace

double port_bound_s(const CommMatrix& matrix, const Machine& machine) {
  if (matrix.num_messages() == 0) return 0;
  double most = 0;
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    double out = 0;
    double in = 0;
    for (const MessageId id : matrix.sent_by(rank)) out += least_wire(machine, matrix.bytes(id));
    for (const MessageId id : matrix.received_by(rank)) in += least_wire(machine, matrix.bytes(id));
    most = std::max(most, machine.duplex == Duplex::half ? out + in : std::max(out, in));
  }
  return least_overhead(machine) + most * machine.byte_s;
}

double link_bound_s(const CommMatrix& matrix, const Machine& machine) {
  if (machine.routing != Routing::table) return 0;
  const Topology& topology = *machine.topology;
  std::vector<double> bytes(static_cast<std::size_t>(topology.num_links()));
  std::vector<LinkId> route;
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    route.clear();
    topology.append_route(matrix.src(id), matrix.dst(id), route);
    for (const LinkId link : route)
      bytes[static_cast<std::size_t>(link)] += least_wire(machine, matrix.bytes(id));
  }
  double most = 0;
  for (LinkId id = 0; id < topology.num_links(); ++id) {
    double capacity = topology.link(id).capacity;
    if (machine.switching == Switching::circuit)
      capacity = std::max(1.0, capacity);  // a circuit runs at the speed of a port
    most = std::max(most, bytes[static_cast<std::size_t>(id)] / capacity);
  }
  return most > 0 ? least_overhead(machine) + most * machine.byte_s : 0;
}

}  // namespace nuice
