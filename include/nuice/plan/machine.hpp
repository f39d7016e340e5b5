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
#include "nuice/plan/machine_sections.hpp"

namespace nuice {

/// "full", "paired", "half"; "packet", "circuit"; "table", "random", "spray". By name: throw Error invalid_argument that lists the known ones.
std::string_view duplex_name(Duplex duplex);
Duplex find_duplex(std::string_view name);
std::string_view switching_name(Switching switching);
Switching find_switching(std::string_view name);
std::string_view routing_name(Routing routing);
Routing find_routing(std::string_view name);

/// A message costs what its sections say (machine_sections.hpp); the members of all sections are members of
/// the machine.
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
  bool grows = false;  ///< Whether grown() can enlarge its network to the required size.

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
