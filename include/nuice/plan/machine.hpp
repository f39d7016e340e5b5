// SPDX-License-Identifier: BSD-3-Clause
// A machine: a network, and the costs of sending messages on this network. The simulator (simulate.hpp) runs
// schedules on machines.
//
//   const Machine cm5 = find_machine("cm5-32");        // a shipped machine
//   const Machine mine = load_machine("my.toml");      // keys, units, formulas: docs/reference/machines.md
//
// Without other messages, a message of n bytes over a route of h links takes
//
//   send_overhead + handshake (above eager_limit) + start_up + wire(n) * byte
//     + latency + h * hop + receive_overhead
//
// where wire(n) = n, or ceil(n / packet_payload) * (packet_payload + packet_header) on a network with
// packets.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nuice/core/topology.hpp"
#include "nuice/core/types.hpp"
#include "nuice/plan/machine_sections.hpp"

namespace nuice {

/// These functions convert enumerators to names ("full", "paired", "half"; "packet", "circuit"; "table",
/// "random", "spray") and back. If a name is unknown, the functions find_...() throw Error with code
/// `invalid_argument`, whose text lists the known names.
std::string_view duplex_name(Duplex duplex);
Duplex find_duplex(std::string_view name);
std::string_view switching_name(Switching switching);
Switching find_switching(std::string_view name);
std::string_view routing_name(Routing routing);
Routing find_routing(std::string_view name);

/// A network and the costs of messages on it. The sections (machine_sections.hpp) are base classes, so their
/// members are members of the machine.
struct Machine : MessageCosts,
                 ProcessorCosts,
                 PortProperties,
                 NetworkProperties,
                 BusyReceiver,
                 MemoryCosts,
                 ActiveMessageCosts,
                 ControlNetwork {
  std::string name;
  std::string summary;
  std::shared_ptr<const Topology> topology;
  bool grows = false;  ///< Whether grown() can enlarge the network.

  double planning_slowdown = 1;  ///< The time to make a schedule divided by planning_cost_s() (advise.hpp).

  /// For a calibrated machine: the worst ratio, at least 1, between measured and predicted time that its
  /// checks found. 0: the machine was not checked.
  double worst_check = 0;
};

/// The limit of Machine::worst_check. A calibrated machine with a larger worst_check is used only if the user
/// names the machine.
inline constexpr double largest_trusted_error = 1.5;

/// Returns the number of bytes on the wire, including packet headers, for a transfer of `bytes` bytes.
Bytes wire_bytes(const Machine& machine, Bytes bytes);

/// Returns the time of an allgather after which every rank has the whole matrix: `ranks` rows of `ranks`
/// words (004 s.3). A control network sends the ranks^2 words one after the other. Without a control network,
/// each rank sends ceil(log2(ranks)) messages by recursive doubling.
double concatenation_s(const Machine& machine, Rank ranks);

/// Returns the time until every rank knows its senders (Generate_Recv, 004 fig. 1), if each rank sends
/// `degree` messages. This takes a vector sum, by the control network or by recursive halving. In addition
/// each rank sends and receives `degree` active messages, or short messages if the machine has no active
/// messages.
double discovery_s(const Machine& machine, Rank ranks, double degree);

/// Returns the time of a broadcast by the control network; 0 if the machine has no control network. The time
/// does not depend on the number of ranks.
double control_broadcast_s(const Machine& machine, Bytes bytes);

/// Checks a machine. Throws Error with code `invalid_argument` if the machine is impossible: no topology, a
/// negative time, byte_s of 0, a header without packets, or a queue without a timeout. The functions that
/// read machine files call require_valid().
void require_valid(const Machine& machine);

/// Reads a machine from TOML text; `name` is the file name for error texts. Throws Error with code `parse`
/// and the text "name:line: reason" for text that is not TOML, an unknown key, a missing or wrong unit, a
/// negative or impossible value, or an unknown topology.
Machine parse_machine(std::string_view text, const std::string& name);

/// Reads a machine from a file. Throws the errors of parse_machine(), and Error with code `io`.
Machine load_machine(const std::string& path);

/// A comment in a machine file. It is written after the value of `key`; if section and key are empty, it is a
/// line at the top of the file.
struct MachineNote {
  std::string section;  ///< The section, such as "message".
  std::string key;      ///< The key, such as "start_up".
  std::string text;
};

/// Returns the TOML text from which parse_machine() makes the same machine again, except for its name.
/// Default values are left out; if there is a note on a default value, the value is written as a comment.
/// Throws the errors of require_valid().
std::string machine_text(const Machine& machine, std::span<const MachineNote> notes = {});

/// Writes machine_text() to a file, completely or not at all. Throws the errors of machine_text(), and Error
/// with code `io`.
void save_machine(const Machine& machine, const std::string& path, std::span<const MachineNote> notes = {});

/// A machine that NUICE ships: its name, and its TOML text with the source of every number.
struct ShippedMachine {
  std::string_view name;
  std::string_view text;
};

/// Returns all shipped machines, sorted by name.
std::span<const ShippedMachine> shipped_machines();

/// Returns whether `name` is the name of a file: it ends in ".toml" or contains a "/".
bool names_machine_file(std::string_view name);

/// Returns load_machine(name) if `name` is the name of a file, otherwise the shipped machine with that name.
/// Throws Error with code `invalid_argument` for an unknown name; the text lists the known names.
Machine find_machine(std::string_view name);

/// Returns the machine with a network that is enlarged for `ranks` ranks, each `ranks_per_host` of which
/// share one host's port. The new network is just large enough, but never smaller than the machine's own
/// network. A crossbar grows by ports, a fattree by leaves and then by one more level of switches, a tree by
/// its top level, a dragonfly by groups. If Machine::grows is false, the machine is returned unchanged.
/// Throws Error with code `invalid_argument` if the network cannot grow as required, for several ranks per
/// host on a dragonfly, and for several ranks per host on a machine that does not grow.
Machine grown(const Machine& machine, Rank ranks, Rank ranks_per_host = 1);

/// Returns grown(find_machine(name), ranks, ranks_per_host).
Machine find_machine(std::string_view name, Rank ranks, Rank ranks_per_host = 1);

/// Returns the path of the file that `nuice-calibrate --save` writes and that the scheduler "auto" reads. The
/// file is machine.toml, or shared-memory.toml if all ranks are on one host; its folder is
/// $XDG_CONFIG_HOME/nuice or ~/.config/nuice. The result is empty if there is no home directory.
std::string calibrated_machine_path(bool one_host);

}  // namespace nuice
