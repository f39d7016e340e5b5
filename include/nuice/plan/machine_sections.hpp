// SPDX-License-Identifier: BSD-3-Clause
// What a machine (machine.hpp) consists of: a struct for each section of a machine file.
// Times in seconds, sizes in bytes. All at least 0; byte_s is above 0.
#pragma once

#include "nuice/core/types.hpp"

namespace nuice {

/// Whether a rank's sending and receiving share the speed of one port.
enum class Duplex {
  full,    ///< They do not share it.
  paired,  ///< They share it, except in an exchange with one partner that both ranks begin together
           ///< (iPSC/860).
  half,    ///< They always share it (CM-5: one processor moves the bytes in and out).
};

enum class Switching {
  packet,   ///< Messages share ports and links, max-min fair.
  circuit,  ///< A message holds every link of its route from its first byte to its last; others wait.
            ///< It takes them all at once, or one by one (Machine::holds_while_waiting).
};

/// How the route of packets is chosen.
enum class Routing {
  table,   ///< The topology's own: d-mod-k on fat trees, the tables of an imported fabric.
  random,  ///< Every transfer draws one of the topology's paths, as ECMP does.
  spray,   ///< Every packet takes another one of up to 16 drawn paths, which is close to adaptive routing.
};

/// A message.
struct MessageCosts {
  double start_up_s = 0;          ///< Time for which the send port is held before the first byte.
  double latency_s = 0;           ///< From the last byte out to the last byte in; it occupies no port.
  double hop_s = 0;               ///< Additional latency for every link of the route.
  double handshake_s = 0;         ///< Delay of a synchronous send after both sides are ready.
  Bytes eager_limit = max_bytes;  ///< Up to this size sends are asynchronous, above it synchronous.
};

/// The processor of a rank: it does one thing at a time.
struct ProcessorCosts {
  double send_overhead_s = 0;     ///< For every message sent.
  double receive_overhead_s = 0;  ///< For every message received, after its last byte.
  double post_receive_s = 0;      ///< For every receive posted.
  double async_send_s = 0;      ///< Additional cost of every message sent by the executor async and by DRS_N.
  double phase_s = 0;           ///< For every phase in which the rank has something to do.
  double idle_phase_s = 0;      ///< For every phase in which it has nothing to do.
  double exchange_saves_s = 0;  ///< The part of send_overhead_s that each of two ranks saves when they
                                ///< exchange in a phase.
  double barrier_s = 0;  ///< Waiting for all ranks takes barrier_s + barrier_level_s * ceil(log2(ranks)) ...
  double barrier_level_s = 0;  ///< ... from the last rank's arrival.
};

/// The port of a rank.
struct PortProperties {
  double byte_s = 1e-9;      ///< Time for one byte on the wire.
  int sends_at_once = 1;     ///< Maximum number; further sends wait in their order. 0: any number.
  int receives_at_once = 0;  ///< Maximum number; further messages wait for the port. 0: any number, which
                             ///< share it.
  Duplex duplex = Duplex::full;
  bool processor_moves_bytes = false;  ///< The port pauses while the processor of its rank works (CM-5).
};

/// The network between the ports.
struct NetworkProperties {
  Switching switching = Switching::packet;
  Routing routing = Routing::table;
  bool lossless =
      false;  ///< Packets wait for room and block others; predicted packet by packet (packets.hpp).
  bool holds_while_waiting =
      false;                 ///< With circuits: a header takes its links one by one and keeps them while it
                             ///< waits.
  Bytes packet_payload = 0;  ///< 0: no packets, wire(n) = n.
  Bytes packet_header = 0;
};

/// A busy receiver: with k incoming messages its port runs at 1 / (1 + min(loss_per_sender * (k - 1),
/// loss_most)) of its speed. If queue_senders messages are already incoming, a message that brings their sum
/// above queue bytes restarts timeout_s later.
struct BusyReceiver {
  double loss_per_sender = 0;
  double loss_most = 0;
  // While the receiver also sends, these two numbers apply instead. On half-duplex machines the loss slows
  // both directions.
  double loss_per_sender_sending = 0;
  double loss_most_sending = 0;
  int queue_senders = 0;  ///< 0: the queue has no limit.
  Bytes queue = 0;
  double timeout_s = 0;
};

/// Memory.
struct MemoryCosts {
  double copy_byte_s = 0;  ///< Copying a byte of a message that came before its receive was posted, and ...
  bool copies_parts = false;       ///< ... if true, of transfers of several pieces, when they are packed and
                                   ///< unpacked.
  Bytes buffer_limit = max_bytes;  ///< Buffer for unexpected messages; senders wait while the receiver's
                                   ///< buffer is full.
  Bytes memory_limit = max_bytes;  ///< For all that a rank sends and receives; the part above the limit ...
  double memory_slowdown = 1;      ///< ... takes this many times as long at its port. At least 1.
  bool async_copies =
      false;  ///< Data that `async` has in flight, and that drs_n is to receive, also lies in the system's
              ///< buffers.
};

/// Active messages, for DRS_N.
struct ActiveMessageCosts {
  double am_send_s = 0;     ///< Time of the sender's processor.
  double am_latency_s = 0;  ///< Time in the network.
  double am_handler_s =
      0;  ///< Time of the receiver's processor, which interrupts its work for at most half of the time.
  double am_retry_s = 0;  ///< Time that a refused rank of DRS_N waits before its next inquiry.
  double am_entry_s = 0;  ///< To send one and receive one by interrupt, together: an entry of Generate_Recv.
};

/// A control network serves all ranks at once, with one word of four bytes at a time. 0: there is none.
struct ControlNetwork {
  double control_word_s = 0;  ///< To send a word from one rank to all.
  double control_sum_s = 0;   ///< To add up one word of each rank.
};

}  // namespace nuice
