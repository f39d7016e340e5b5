// SPDX-License-Identifier: BSD-3-Clause
// The parts of a machine (machine.hpp): a struct for each section of a machine file.
// Times are in seconds, sizes in bytes. All values are at least 0, and byte_s is above 0.
#pragma once

#include "nuice/core/types.hpp"

namespace nuice {

/// Whether sending and receiving share the speed of a rank's port.
enum class Duplex {
  full,  ///< Sending and receiving each have the full speed.
  /// Sending and receiving share the speed, unless two ranks that exchange messages begin together
  /// (iPSC/860).
  paired,
  half,  ///< Sending and receiving always share the speed (CM-5: one processor moves all bytes).
};

enum class Switching {
  packet,  ///< Messages share ports and links (max-min fair).
  /// A message holds every link of its route from its first byte to its last; other messages wait. It takes
  /// all links at once, or one by one (holds_while_waiting).
  circuit,
};

/// How a packet gets its route.
enum class Routing {
  table,   ///< By the topology's tables: d-mod-k on fat trees, the tables of an imported fabric.
  random,  ///< Every transfer draws one of the topology's paths, as with ECMP.
  spray,   ///< Every packet takes another of up to 16 drawn paths, similar to adaptive routing.
};

/// The costs of a message.
struct MessageCosts {
  double start_up_s = 0;   ///< The time for which the send port is held before the first byte.
  double latency_s = 0;    ///< The time from the last byte out to the last byte in; it occupies no port.
  double hop_s = 0;        ///< The additional latency of every link of the route.
  double handshake_s = 0;  ///< The delay of a synchronous send after both ranks are ready.
  /// The size limit of asynchronous sends; sends of larger messages are synchronous.
  Bytes eager_limit = max_bytes;
};

/// The costs of a rank's processor, which does one thing at a time.
struct ProcessorCosts {
  double send_overhead_s = 0;     ///< The time for every message sent.
  double receive_overhead_s = 0;  ///< The time for every message received, after its last byte.
  double post_receive_s = 0;      ///< The time for every posted receive.
  double async_send_s = 0;        ///< The additional time for every send of the executor async and of DRS_N.
  double phase_s = 0;             ///< The time for every phase in which the rank sends or receives.
  double idle_phase_s = 0;        ///< The time for every phase in which the rank is idle.
  /// The part of send_overhead_s that two ranks save when they send to each other in the same phase.
  double exchange_saves_s = 0;
  /// The fixed part of a barrier: from the arrival of the last rank, a barrier takes barrier_s +
  /// barrier_level_s * ceil(log2(ranks)).
  double barrier_s = 0;
  double barrier_level_s = 0;  ///< The part of a barrier that is multiplied by ceil(log2(ranks)).
};

/// The properties of a rank's port.
struct PortProperties {
  double byte_s = 1e-9;  ///< The time for one byte on the wire.
  /// The maximum number of sends at a time; 0: no limit. Further sends wait in order.
  int sends_at_once = 1;
  /// The maximum number of messages received at a time; further messages wait. 0: no limit, and all incoming
  /// messages share the port.
  int receives_at_once = 0;
  Duplex duplex = Duplex::full;
  bool processor_moves_bytes = false;  ///< Whether the port pauses while the rank's processor works (CM-5).
};

/// The properties of the network between the ports.
struct NetworkProperties {
  Switching switching = Switching::packet;
  Routing routing = Routing::table;
  /// Whether packets wait for room and block other packets; such machines are simulated packet by packet
  /// (packets.hpp).
  bool lossless = false;
  /// With circuits: whether a message takes its links one by one and keeps them while it waits.
  bool holds_while_waiting = false;
  Bytes packet_payload = 0;  ///< The data bytes of a packet. 0: no packets, so wire(n) = n.
  Bytes packet_header = 0;
};

/// The loss of a busy receiver. With k incoming messages its port runs at 1 / (1 + min(loss_per_sender * (k -
/// 1), loss_most)) of its speed. If queue_senders messages are already incoming, a message that brings their
/// sum above `queue` bytes restarts timeout_s later.
struct BusyReceiver {
  double loss_per_sender = 0;
  double loss_most = 0;
  // These two numbers apply instead while the receiver also sends. On half-duplex machines the loss slows
  // both directions.
  double loss_per_sender_sending = 0;
  double loss_most_sending = 0;
  int queue_senders = 0;  ///< The number of incoming messages from which `queue` applies; 0: no limit.
  Bytes queue = 0;
  double timeout_s = 0;
};

/// The costs of a rank's memory.
struct MemoryCosts {
  /// The time to copy one byte of a message that arrived before its receive was posted.
  double copy_byte_s = 0;
  /// Whether a transfer of several pieces is copied too, when it is packed and when it is unpacked.
  bool copies_parts = false;
  /// The size of the buffer for unexpected messages; senders wait while the buffer of the receiver is full.
  Bytes buffer_limit = max_bytes;
  /// The number of bytes that a rank sends and receives without loss of speed.
  Bytes memory_limit = max_bytes;
  /// The factor, at least 1, by which bytes above memory_limit take longer at the port.
  double memory_slowdown = 1;
  /// Whether in-flight data of `async`, and data that drs_n receives, also occupy the system's buffers.
  bool async_copies = false;
};

/// The costs of active messages, for DRS_N.
struct ActiveMessageCosts {
  double am_send_s = 0;     ///< The time of the sender's processor.
  double am_latency_s = 0;  ///< The time in the network.
  /// The time of the receiver's processor. Handlers interrupt its work for at most half of the time.
  double am_handler_s = 0;
  double am_retry_s = 0;  ///< The time that a refused rank of DRS_N waits before its next inquiry.
  /// The total time to send one entry of Generate_Recv and to receive one in an interrupt.
  double am_entry_s = 0;
};

/// A control network, which serves all ranks at once, with one word of four bytes at a time. 0: no such
/// network.
struct ControlNetwork {
  double control_word_s = 0;  ///< The time to send a word from one rank to all ranks.
  double control_sum_s = 0;   ///< The time to add one word of each rank.
};

}  // namespace nuice
