// SPDX-License-Identifier: BSD-3-Clause
// A packet-level simulator of lossless networks (InfiniBand, Slingshot, RoCE with PFC). Its switches have
// input queues, virtual cut-through, and credits that hold a packet back until the next buffer has room. In
// this simulator packets block each other; in simulate() messages share links like a fluid.
//
//   const Machine machine = find_machine("ib-hdr-fattree");
//   const PacketRun run = simulate_packets(matrix, schedule, machine, {.executor = "depend"});
//   run.seconds; run.slots / run.bound_slots();
//
// Time advances in slots; a slot is the time of a packet on a link. The same arguments give the same result.
// docs/reference/machines.md describes the model, what it leaves out, and how it was validated.
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

/// The way in which a switch stores the packets that arrive over a cable. Real switches lie between these two
/// kinds.
enum class Queueing : std::uint8_t {
  fifo,  ///< All packets wait in one queue; a packet whose output is busy blocks all packets behind it.
  voq,   ///< The packets wait in one buffer, which has a queue for every output.
};

/// These functions convert enumerators to names ("fifo", "voq") and back. If a name is unknown,
/// find_queueing() throws Error with code `invalid_argument`, whose text lists the known names.
std::string_view queueing_name(Queueing queueing);
Queueing find_queueing(std::string_view name);

struct PacketOptions {
  std::string executor{default_executor};  ///< A name of executors(); the executor must need a schedule.
  Queueing queueing = Queueing::fifo;
  /// The routing; by default the machine's routing. If the schedule names a path for a transfer, the transfer
  /// takes this path.
  std::optional<Routing> routing = std::nullopt;
  /// The data bytes of a packet. 0: the machine's packet_payload, or 4096 if packet_payload is 0.
  Bytes packet_bytes = 0;
  int buffer_packets = 32;  ///< The buffer size, in packets, per switch input and virtual lane; at least 1.
  std::uint64_t seed = 0;   ///< The seed of the random paths.
  /// For the executor depend: a receiver notifies the next sender when this number of bytes of a message has
  /// not yet arrived.
  Bytes early_bytes = default_early_bytes;
};

struct PacketRun {
  double seconds = 0;           ///< The time until the last rank has its last message.
  double slot_s = 0;            ///< The time of a packet on a link.
  double slots = 0;             ///< The time until the last packet has arrived, in slots.
  double port_bound_slots = 0;  ///< The number of packets through the busiest port.
  /// The number of packets over the busiest link, on the paths that the packets took, divided by the link's
  /// capacity; 0 without links.
  double link_bound_slots = 0;
  std::uint64_t packets = 0;      ///< The number of packets; every packet is delivered once.
  std::uint64_t packet_hops = 0;  ///< The number of ports and links that all packets crossed.
  int virtual_lanes = 1;  ///< The number of virtual lanes that the routes need to be free of deadlock.
  std::vector<double> arrived_slots;  ///< For each transfer, the time when its last packet arrived.
  std::vector<Bytes> delivered;       ///< For each message, the bytes that arrived at its destination.

  double bound_slots() const {
    return port_bound_slots > link_bound_slots ? port_bound_slots : link_bound_slots;
  }
};

/// Simulates a schedule. Throws Error with code `invalid_argument` as require_valid(machine), for an executor
/// that is unknown or takes no schedule, and for options out of range; `not_applicable` for circuits, and for
/// ports that cannot send and receive at the same time; `mismatch` as simulate(); `state` if ranks would wait
/// for each other forever; `limit` for more than 2^31 packets in buffers or a message of more than 2^32 - 1
/// packets.
/// Cost: 50 to 100 ns per packet and hop (bench/run.py packets), and 12 bytes per packet that buffers hold.
PacketRun simulate_packets(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
                           const PacketOptions& options = {});

/// Returns the throughput of a saturated switch: the share of slots in which an output delivers a packet.
/// Every input always has packets, whose outputs are drawn uniformly (Karol, Hluchyj and Morgan 1987). Throws
/// Error with code `invalid_argument` for fewer than 1 port or slot.
double switch_throughput(int ports, Queueing queueing, int slots = 20000, std::uint64_t seed = 1);

}  // namespace nuice
