// SPDX-License-Identifier: BSD-3-Clause
// A machine: a network and what sending on it costs. The simulator (simulate.hpp) runs schedules on it.
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
  full,  ///< They do not.
  paired,  ///< They do, unless the two are an exchange with one partner that both have begun together (iPSC/860).
  half,  ///< They always do (CM-5: one processor moves the bytes in and out).
};

enum class Switching {
  packet,   ///< Messages share ports and links, max-min fair.
  circuit,  ///< A message holds every link of its route from its first byte to its last; others wait.
            ///< It takes them all at once, or one by one (Machine::holds_while_waiting).
};

/// Which way packets take.
enum class Routing {
  table,   ///< The topology's own: d-mod-k on fat trees, the tables of an imported fabric.
  random,  ///< Every transfer draws one of the topology's paths, as ECMP does.
  spray,   ///< Every packet takes another one of up to 16 drawn: about what adaptive routing comes to.
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
  bool grows = false;  ///< A family: grown() makes its network as large as is asked for.

  // A message.
  double start_up_s = 0;          ///< The send port is held for so long before the first byte.
  double latency_s = 0;           ///< From the last byte out to the last byte in; holds nothing.
  double hop_s = 0;               ///< More latency for every link of the route.
  double handshake_s = 0;         ///< A synchronous send begins so long after both sides are ready.
  Bytes eager_limit = max_bytes;  ///< Up to this size sends are asynchronous, above it synchronous.

  // The processor of a rank: it does one thing at a time.
  double send_overhead_s = 0;     ///< For every message sent.
  double receive_overhead_s = 0;  ///< For every message received, after its last byte.
  double post_receive_s = 0;      ///< For every receive posted.
  double async_send_s = 0;      ///< Additional cost of every message sent by the executor async and by DRS_N.
  double phase_s = 0;           ///< For every phase in which the rank has something to do.
  double idle_phase_s = 0;      ///< For every phase in which it has nothing to do.
  double exchange_saves_s = 0;  ///< What two ranks that exchange in a phase each save of send_overhead_s.
  double barrier_s = 0;  ///< Waiting for all ranks takes barrier_s + barrier_level_s * ceil(log2(ranks)) ...
  double barrier_level_s = 0;  ///< ... from the last rank's arrival.

  // The port of a rank.
  double byte_s = 1e-9;      ///< Time per byte on the wire.
  int sends_at_once = 1;     ///< More wait in their order. 0: any number.
  int receives_at_once = 0;  ///< More wait for the port. 0: any number, and they share it.
  Duplex duplex = Duplex::full;
  bool processor_moves_bytes =
      false;  ///< The port stands still while the processor of its rank works (CM-5).

  // The network between the ports.
  Switching switching = Switching::packet;
  Routing routing = Routing::table;
  bool lossless =
      false;  ///< Packets wait for room and hold up others: predicted packet by packet (packets.hpp).
  bool holds_while_waiting =
      false;                 ///< Circuits: a header takes its links one by one and keeps them while it waits.
  Bytes packet_payload = 0;  ///< 0: no packets, wire(n) = n.
  Bytes packet_header = 0;

  // A busy receiver: with k messages coming in, its port moves 1 / (1 + min(loss_per_sender * (k - 1), loss_most))
  // of its bytes. A message that finds queue_senders coming in already, which with it have more than queue bytes, begins
  // again timeout_s later.
  double loss_per_sender = 0;
  double loss_most = 0;
  // While the receiver has bytes on their way out as well, the two numbers for that are taken instead. On half-duplex
  // machines the loss slows both ways.
  double loss_per_sender_sending = 0;
  double loss_most_sending = 0;
  int queue_senders = 0;  ///< 0: a queue without limit.
  Bytes queue = 0;
  double timeout_s = 0;

  // Memory.
  double copy_byte_s = 0;  ///< Copying a byte: of a message that came before its receive was posted, or ...
  bool copies_parts = false;       ///< ... also when packing and unpacking transfers of several pieces.
  Bytes buffer_limit = max_bytes;  ///< Of unexpected messages; a sender waits when the receiver's is full.
  Bytes memory_limit = max_bytes;  ///< Of all that a rank sends and receives; what is above it ...
  double memory_slowdown = 1;      ///< ... takes its port this factor longer. At least 1.
  bool async_copies =
      false;  ///< What `async` has in flight and drs_n is to receive lies in the system's buffers too.

  // Active messages, for DRS_N.
  double am_send_s = 0;     ///< The sender's processor.
  double am_latency_s = 0;  ///< On the way.
  double am_handler_s =
      0;  ///< The receiver's processor, which stops what it is doing; at most half of the time.
  double am_retry_s = 0;  ///< A refused rank of DRS_N waits so long before its next inquiry.
  double am_entry_s = 0;  ///< Sending one and taking one by interrupt, together: an entry of Generate_Recv.

  // A control network, which serves all ranks at once, a word of four bytes at a time. 0: none.
  double control_word_s = 0;  ///< A word from one rank to all.
  double control_sum_s = 0;   ///< The sum over all ranks of a word of each.

  // Planning.
  double planning_slowdown = 1;  ///< Planning time over planning_cost_s() (advise.hpp).

  /// Of a calibrated machine: the worst of its own checks, measured over predicted or the other way round. 0: none was made.
  double worst_check = 0;
};

/// A calibrated machine whose own check is further off is not taken unless it is named.
inline constexpr double largest_trusted_error = 1.5;

/// Bytes on the wire for a transfer of `bytes`.
Bytes wire_bytes(const Machine& machine, Bytes bytes);

/// Until every rank has all `ranks` rows of `ranks` words (004 s.3): by the control network ranks^2 words one after the
/// other; else by recursive doubling over the ports, ceil(log2(ranks)) messages of doubling length.
double concatenation_s(const Machine& machine, Rank ranks);

/// Until every rank knows its senders (Generate_Recv, 004 fig. 1), where each has `degree` messages: a vector sum, by the
/// control network or as recursive halving, and `degree` active messages out and in. On machines without active messages these
/// cost what a short message costs.
double discovery_s(const Machine& machine, Rank ranks, double degree);

/// A broadcast by the control network, whatever the number of ranks; 0 where there is none.
double control_broadcast_s(const Machine& machine, Bytes bytes);

/// Throws Error invalid_argument for a machine that cannot be: without a topology, a negative time, a byte that takes
/// none, a header without packets, a queue without a timeout. Machines from files have been through this.
void require_valid(const Machine& machine);

/// Reads a machine from TOML text; `name` stands in errors. Throws Error parse, "name:line: reason", for text that is not
/// TOML, an unknown key, a missing or wrong unit, a negative or senseless value, an unknown topology.
Machine parse_machine(std::string_view text, const std::string& name);

/// Reads a machine from a file. Throws as parse_machine, and Error io.
Machine load_machine(const std::string& path);

/// Something said of a value in a file, as a comment behind it; without section and key, a line of its own at the top.
struct MachineNote {
  std::string section;  ///< "message"
  std::string key;      ///< "start_up"
  std::string text;
};

/// The TOML text from which parse_machine() makes exactly this machine again, but for the name. Values that are as in
/// Machine{} are left out, or stand there as a comment if there is a note on them.
/// Throws Error invalid_argument as require_valid().
std::string machine_text(const Machine& machine, std::span<const MachineNote> notes = {});

/// Writes that text to a file, whole or not at all. Throws as machine_text, and Error io.
void save_machine(const Machine& machine, const std::string& path, std::span<const MachineNote> notes = {});

/// A machine that is shipped: a name, and the TOML text with the source of every number.
struct ShippedMachine {
  std::string_view name;
  std::string_view text;
};

/// All shipped machines, by name.
std::span<const ShippedMachine> shipped_machines();

/// Whether it is the name of a file: it ends in ".toml" or has a "/".
bool names_machine_file(std::string_view name);

/// load_machine(name) where that is the name of a file, else the shipped machine of that name.
/// Throws Error invalid_argument that lists the known names.
Machine find_machine(std::string_view name);

/// The machine for a number of ranks, `ranks_per_host` of which share a host's port: an installation of its kind, just as large as
/// they need, but no smaller than the file says. A fixed machine is returned as it is. Kinds that grow: crossbar; fattree, by
/// leaves, then by a level of switches more; tree, by its top level; dragonfly, by groups. Hosts with several ranks: not on a
/// dragonfly. Throws Error invalid_argument where the network does not grow that far or that way, or a fixed machine is asked
/// for hosts with several ranks.
Machine grown(const Machine& machine, Rank ranks, Rank ranks_per_host = 1);

/// grown(find_machine(name), ranks, ranks_per_host).
Machine find_machine(std::string_view name, Rank ranks, Rank ranks_per_host = 1);

/// Where `nuice-calibrate --save` leaves a machine and the planner's "auto" looks for one: machine.toml, or
/// shared-memory.toml for ranks that are all on one host, in $XDG_CONFIG_HOME/nuice or ~/.config/nuice. Empty without a
/// home.
std::string calibrated_machine_path(bool one_host);

}  // namespace nuice
