// SPDX-License-Identifier: BSD-3-Clause
// A machine: a network and the costs of sending on it. The simulator (simulate.hpp) runs schedules on it.
//
//   const Machine cm5 = find_machine("cm5-32");        // one of the shipped ones
//   const Machine mine = load_machine("my.toml");      // docs/reference/machines.md has the keys, units and formulas
//
// A message of n bytes that nothing else disturbs takes, over a route of h links,
//
//   send_overhead + handshake (above eager_limit) + start_up + wire(n) * byte + latency + h * hop + receive_overhead
//
// where wire(n) = n, or ceil(n / packet_payload) * (packet_payload + packet_header) on a network of packets.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nuice/core/topology.hpp"
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

/// "full", "paired", "half"; "packet", "circuit"; "table", "random", "spray". By name: throw Error invalid_argument that lists the known ones.
std::string_view duplex_name(Duplex duplex);
Duplex find_duplex(std::string_view name);
std::string_view switching_name(Switching switching);
Switching find_switching(std::string_view name);
std::string_view routing_name(Routing routing);
Routing find_routing(std::string_view name);

/// Times in seconds, sizes in bytes. All at least 0; byte_s is above 0.
struct Machine {
  std::string name;
  std::string summary;
  std::shared_ptr<const Topology> topology;
  bool grows = false;  ///< Whether grown() can enlarge its network to the required size.

  // A message.
  double start_up_s = 0;          ///< Time for which the send port is held before the first byte.
  double latency_s = 0;           ///< From the last byte out to the last byte in; it occupies no port.
  double hop_s = 0;               ///< Additional latency for every link of the route.
  double handshake_s = 0;         ///< Delay of a synchronous send after both sides are ready.
  Bytes eager_limit = max_bytes;  ///< Up to this size sends are asynchronous, above it synchronous.

  // The processor of a rank: it does one thing at a time.
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

  // The port of a rank.
  double byte_s = 1e-9;      ///< Time for one byte on the wire.
  int sends_at_once = 1;     ///< Maximum number; further sends wait in their order. 0: any number.
  int receives_at_once = 0;  ///< Maximum number; further messages wait for the port. 0: any number, which
                             ///< share it.
  Duplex duplex = Duplex::full;
  bool processor_moves_bytes = false;  ///< The port pauses while the processor of its rank works (CM-5).

  // The network between the ports.
  Switching switching = Switching::packet;
  Routing routing = Routing::table;
  bool lossless =
      false;  ///< Packets wait for room and block others; predicted packet by packet (packets.hpp).
  bool holds_while_waiting =
      false;                 ///< With circuits: a header takes its links one by one and keeps them while it
                             ///< waits.
  Bytes packet_payload = 0;  ///< 0: no packets, wire(n) = n.
  Bytes packet_header = 0;

  // A busy receiver: with k incoming messages its port runs at 1 / (1 + min(loss_per_sender * (k - 1),
  // loss_most)) of its speed. If queue_senders messages are already incoming, a message that brings their sum
  // above queue bytes restarts timeout_s later.
  double loss_per_sender = 0;
  double loss_most = 0;
  // While the receiver also sends, these two numbers apply instead. On half-duplex machines the loss slows
  // both directions.
  double loss_per_sender_sending = 0;
  double loss_most_sending = 0;
  int queue_senders = 0;  ///< 0: the queue has no limit.
  Bytes queue = 0;
  double timeout_s = 0;

  // Memory.
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

  // Active messages, for DRS_N.
  double am_send_s = 0;     ///< Time of the sender's processor.
  double am_latency_s = 0;  ///< Time in the network.
  double am_handler_s =
      0;  ///< Time of the receiver's processor, which interrupts its work for at most half of the time.
  double am_retry_s = 0;  ///< Time that a refused rank of DRS_N waits before its next inquiry.
  double am_entry_s = 0;  ///< To send one and receive one by interrupt, together: an entry of Generate_Recv.

  // A control network serves all ranks at once, with one word of four bytes at a time. 0: there is none.
  double control_word_s = 0;  ///< To send a word from one rank to all.
  double control_sum_s = 0;   ///< To add up one word of each rank.

  // Planning.
  double planning_slowdown = 1;  ///< Planning time over planning_cost_s() (advise.hpp).

  /// Of a calibrated machine: the worst ratio of its own checks, measured over predicted or the reverse,
  /// whichever is larger. 0: not checked.
  double worst_check = 0;
};

/// A calibrated machine with a larger worst_check is used only if it is named.
inline constexpr double largest_trusted_error = 1.5;

/// Bytes on the wire for a transfer of `bytes`.
Bytes wire_bytes(const Machine& machine, Bytes bytes);

/// Time until every rank has all `ranks` rows of `ranks` words (004 s.3). With a control network: ranks^2
/// words one after the other. Otherwise recursive doubling over the ports: ceil(log2(ranks)) messages of
/// doubling length.
double concatenation_s(const Machine& machine, Rank ranks);

/// Time until every rank knows its senders (Generate_Recv, 004 fig. 1), if each rank has `degree` messages: a
/// vector sum, by the control network or by recursive halving, and `degree` active messages out and in.
/// Without active messages, short messages replace them.
double discovery_s(const Machine& machine, Rank ranks, double degree);

/// Time of a broadcast by the control network, which does not depend on the number of ranks; 0 without such a
/// network.
double control_broadcast_s(const Machine& machine, Bytes bytes);

/// Throws Error invalid_argument for an impossible machine: no topology, a negative time, no time for a byte,
/// a header without packets, a queue without a timeout. Machines from files have passed this check.
void require_valid(const Machine& machine);

/// Reads a machine from TOML text; errors contain `name`. Throws Error parse, "name:line: reason", for text
/// that is not TOML, an unknown key, a missing or wrong unit, a negative or impossible value, an unknown
/// topology.
Machine parse_machine(std::string_view text, const std::string& name);

/// Reads a machine from a file. Throws as parse_machine, and Error io.
Machine load_machine(const std::string& path);

/// A comment on a value in a file, written behind it; without section and key, a line at the top.
struct MachineNote {
  std::string section;  ///< "message"
  std::string key;      ///< "start_up"
  std::string text;
};

/// The TOML text from which parse_machine() makes exactly this machine again, except for the name. Default
/// values are left out, or written as a comment if there is a note on them.
/// Throws Error invalid_argument as require_valid().
std::string machine_text(const Machine& machine, std::span<const MachineNote> notes = {});

/// Writes this text to a file, completely or not at all. Throws as machine_text, and Error io.
void save_machine(const Machine& machine, const std::string& path, std::span<const MachineNote> notes = {});

/// A machine that is shipped: a name, and the TOML text with the source of every number.
struct ShippedMachine {
  std::string_view name;
  std::string_view text;
};

/// All shipped machines, by name.
std::span<const ShippedMachine> shipped_machines();

/// Whether `name` is the name of a file: it ends in ".toml" or contains a "/".
bool names_machine_file(std::string_view name);

/// load_machine(name) if `name` is the name of a file, otherwise the shipped machine of that name.
/// Throws Error invalid_argument that lists the known names.
Machine find_machine(std::string_view name);

/// The machine enlarged for `ranks` ranks, of which `ranks_per_host` share a host's port: just large enough,
/// but no smaller than in its file. A machine that does not grow is returned unchanged. A crossbar grows by
/// ports, a fattree by leaves and then by one more level of switches, a tree by its top level, a dragonfly by
/// groups. Hosts with several ranks are not possible on a dragonfly. Throws Error invalid_argument if the
/// network cannot grow as required, and for hosts with several ranks on a machine that does not grow.
Machine grown(const Machine& machine, Rank ranks, Rank ranks_per_host = 1);

/// grown(find_machine(name), ranks, ranks_per_host).
Machine find_machine(std::string_view name, Rank ranks, Rank ranks_per_host = 1);

/// The file that `nuice-calibrate --save` writes and the scheduler "auto" reads: machine.toml, or
/// shared-memory.toml if all ranks are on one host, in $XDG_CONFIG_HOME/nuice or ~/.config/nuice. Empty if
/// there is no home directory.
std::string calibrated_machine_path(bool one_host);

}  // namespace nuice
