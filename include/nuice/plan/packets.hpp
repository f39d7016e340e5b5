// SPDX-License-Identifier: BSD-3-Clause
// A packet-level simulator of lossless networks: switches with input queues, virtual cut-through, and credits
// that hold a packet back until the next buffer has room (InfiniBand, Slingshot, RoCE with PFC). Packets
// block each other here, whereas simulate() shares links as a fluid.
//
//   const PacketRun run = simulate_packets(matrix, schedule, find_machine("ib-hdr-fattree"), {.executor = "depend"});
//   run.seconds / run.bound_s
//
// Time advances in slots; a slot is the time of a packet on a link. Deterministic: the same arguments give
// the same result.
// docs/reference/machines.md has the model, what it leaves out, and what it was checked against.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice {

/// How a switch stores the packets that arrive over a cable. Real switches lie between the two.
enum class Queueing : std::uint8_t {
  fifo,  ///< In one queue: a packet whose output is busy blocks all packets behind it.
  voq,   ///< In a queue for every output, all in one buffer.
};

/// "fifo", "voq". By name: throws Error invalid_argument that lists the known ones.
std::string_view queueing_name(Queueing queueing);
Queueing find_queueing(std::string_view name);

struct PacketOptions {
  std::string executor{default_executor};  ///< A name of executors(), of one that needs a schedule.
  Queueing queueing = Queueing::fifo;
  std::optional<Routing> routing =
      std::nullopt;         ///< Instead of the machine's routing. Paths of the schedule take precedence.
  Bytes packet_bytes = 0;   ///< Data per packet; 0: the machine's packet_payload, or 4096 if it has none.
  int buffer_packets = 32;  ///< At every input of a switch, for each virtual lane. At least 1.
  std::uint64_t seed = 0;   ///< Seed of the random paths.
  /// Executor depend: a receiver notifies when this number of bytes is left.
  Bytes early_bytes = default_early_bytes;
};

struct PacketRun {
  double seconds = 0;           ///< When the last rank has its last message.
  double slot_s = 0;            ///< The time of a packet on a link.
  double slots = 0;             ///< Time until the last packet has arrived.
  double port_bound_slots = 0;  ///< Packets of the busiest port.
  double link_bound_slots =
      0;                      ///< Packets of the busiest link divided by its capacity, on the paths taken; 0
                              ///< without links.
  std::uint64_t packets = 0;  ///< Each is delivered once.
  std::uint64_t packet_hops = 0;      ///< Over ports and links.
  int virtual_lanes = 1;              ///< The number that keeps the routes free of deadlock.
  std::vector<double> arrived_slots;  ///< By transfer: when its last packet arrived.
  std::vector<Bytes> delivered;       ///< By message: bytes that arrived at its destination.

  double bound_slots() const {
    return port_bound_slots > link_bound_slots ? port_bound_slots : link_bound_slots;
  }
};

/// Runs a schedule. Throws Error invalid_argument as require_valid(machine), for an executor that is unknown or takes no
/// schedule, and for options out of range; not_applicable for circuits and for ports that do not send and receive at the
/// same time; mismatch as simulate(); state if ranks would
/// wait for each other forever; limit above 2^31 packets in buffers or a message above 2^32 - 1 packets.
/// Cost: 50 to 100 ns per packet and hop (bench/run.py packets); memory 12 bytes per packet that buffers hold.
PacketRun simulate_packets(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                           const PacketOptions& options = {});

/// The share of its slots in which a port of a saturated switch delivers a packet: every input always has
/// packets, for outputs drawn uniformly (Karol, Hluchyj and Morgan 1987). Throws Error invalid_argument for
/// fewer than 1 port or slot.
double switch_throughput(int ports, Queueing queueing, int slots = 20000, std::uint64_t seed = 1);

}  // namespace nuice
