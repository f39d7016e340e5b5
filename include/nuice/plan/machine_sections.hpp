// SPDX-License-Identifier: BSD-3-Clause
// The parts of a machine (machine.hpp): a struct for each section of a machine file.
// Times are in seconds, sizes in bytes. All values are at least 0, and byte_s is above 0.
#pragma once

#include "nuice/core/types.hpp"

namespace nuice {

/// Whether sending and receiving share the speed of a rank's port.
enum class Duplex {
  full,  ///< Sending and receiving each have the full speed.
  /// Sending and receiving share the speed, except when two ranks exchange messages and begin at the same
  /// time (iPSC/860).
  paired,
  half,  ///< Sending and receiving always share the speed (CM-5: one processor moves all bytes).
};

enum class Switching {
  packet,  ///< Messages share ports and links (max-min fair).
  /// A message holds every link of its route from its first byte to its last byte; other messages wait. The
  /// message gets all links at once, or one by one (NetworkProperties::holds_while_waiting).
  circuit,
};

/// The way in which packets get their routes.
enum class Routing {
  /// The topology's tables give the route: d-mod-k on fat trees, or the tables of an imported fabric.
  table,
  random,  ///< Every transfer draws one of the topology's paths, as with ECMP.
  /// A transfer draws up to 16 paths, and its packets take them in turn, similar to adaptive routing.
  spray,
};

/// The costs of a message.
struct MessageCosts {
  double start_up_s = 0;  ///< The time for which the send port is held before the first byte.
  /// The time between the departure and the arrival of the last byte. During this time the message occupies
  /// no port.
  double latency_s = 0;
  double hop_s = 0;        ///< The additional latency of every link of the route.
  double handshake_s = 0;  ///< The delay of a synchronous send after both ranks are ready.
  /// The largest message that is sent asynchronously; sends of larger messages are synchronous.
  Bytes eager_limit = max_bytes;
};

/// The costs of a rank's processor, which does one thing at a time.
struct ProcessorCosts {
  double send_overhead_s = 0;     ///< The time for every message sent.
  double receive_overhead_s = 0;  ///< The time for every message received, after its last byte.
  double post_receive_s = 0;      ///< The time for every posted receive.
  double async_send_s = 0;        ///< The additional time for every send with the executor async or DRS_N.
  double phase_s = 0;             ///< The time for every phase in which the rank sends or receives.
  double idle_phase_s = 0;        ///< The time for every phase in which the rank is idle.
  /// The part of send_overhead_s that each of two ranks saves when they send to each other in the same phase.
  double exchange_saves_s = 0;
  /// The fixed part of the time of a barrier. After the last rank has arrived, a barrier takes barrier_s +
  /// barrier_level_s * ceil(log2(ranks)).
  double barrier_s = 0;
  double barrier_level_s = 0;  ///< The part of the time of a barrier that is multiplied by ceil(log2(ranks)).
};

/// The properties of a rank's port.
struct PortProperties {
  double byte_s = 1e-9;  ///< The time for one byte on the wire.
  /// The maximum number of simultaneous sends; further sends wait in order. 0: no limit.
  int sends_at_once = 1;
  /// The maximum number of messages that a rank receives simultaneously; further messages wait. 0: no limit;
  /// all incoming messages share the port.
  int receives_at_once = 0;
  Duplex duplex = Duplex::full;
  bool processor_moves_bytes = false;  ///< Whether the port pauses while the rank's processor works (CM-5).
};

/// The properties of the network between the ports.
struct NetworkProperties {
  Switching switching = Switching::packet;
  Routing routing = Routing::table;
  /// Whether packets wait for room in the next buffer and block other packets. Such machines are simulated
  /// packet by packet (packets.hpp).
  bool lossless = false;
  /// With Switching::circuit: whether a message takes the links of its route one by one, and keeps them while
  /// it waits for the next link.
  bool holds_while_waiting = false;
  Bytes packet_payload = 0;  ///< The maximum number of data bytes in a packet. 0: no packets, so wire(n) = n.
  Bytes packet_header = 0;
};

/// The losses at a busy receiver. With k incoming messages the receiver's port runs at 1 / (1 +
/// min(loss_per_sender * (k - 1), loss_most)) of its speed. If queue_senders messages are already incoming,
/// and a new message brings the sum of their sizes above `queue` bytes, the new message is lost, and is
/// retransmitted after timeout_s.
struct BusyReceiver {
  double loss_per_sender = 0;
  double loss_most = 0;
  // The next two numbers apply while the receiver also sends, instead of the two above. On half-duplex
  // machines the loss slows both directions.
  double loss_per_sender_sending = 0;
  double loss_most_sending = 0;
  /// The limit `queue` applies if at least this number of messages is incoming; 0: no limit.
  int queue_senders = 0;
  Bytes queue = 0;
  double timeout_s = 0;
};

/// The costs of a rank's memory.
struct MemoryCosts {
  /// The time to copy one byte of a message that arrived before its receive was posted.
  double copy_byte_s = 0;
  /// Whether a transfer of several pieces is also copied, once when it is packed and once when it is
  /// unpacked.
  bool copies_parts = false;
  /// The size of the buffer for unexpected messages. Senders wait while the receiver's buffer is full.
  Bytes buffer_limit = max_bytes;
  /// The number of bytes that a rank sends and receives without loss of speed.
  Bytes memory_limit = max_bytes;
  /// The factor, at least 1, by which the port is slower for bytes above memory_limit.
  double memory_slowdown = 1;
  /// Whether the system keeps a copy of data that `async` has in flight, and of data that drs_n receives.
  bool async_copies = false;
};

/// The costs of active messages, for DRS_N.
struct ActiveMessageCosts {
  double am_send_s = 0;     ///< The time of the sender's processor.
  double am_latency_s = 0;  ///< The time in the network.
  /// The time of the receiver's processor. Handlers interrupt the processor's work for at most half of the
  /// time.
  double am_handler_s = 0;
  double am_retry_s = 0;  ///< The time that a rank of DRS_N waits after a refusal before its next inquiry.
  /// The total time to send one entry of Generate_Recv and to receive one in an interrupt.
  double am_entry_s = 0;
};

/// A control network. It serves all ranks at once, with one word of four bytes at a time. If the times are 0,
/// the machine has no control network.
struct ControlNetwork {
  double control_word_s = 0;  ///< The time to send a word from one rank to all ranks.
  double control_sum_s = 0;   ///< The time to add one word of each rank.
};

}  // namespace nuice
