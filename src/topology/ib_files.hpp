// SPDX-License-Identifier: BSD-3-Clause
// Reads the output of InfiniBand's own tools. ibnetdiscover lists which ports are joined; dump_fts
// (infiniband-diags) or OpenSM's opensm-lfts.dump has the routing tables of all switches.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nuice::topo {

/// The cable of a switch's port, and the port at its other end.
struct IbCable {
  std::string peer;  // "S-0000000000200004", "H-..."
  int peer_port = 0;
  double gbit_s = 0;  // 0: unknown
};

struct IbSwitch {
  std::string name;                // "leaf3"; its GUID if it has no name
  std::map<int, IbCable> cables;   // by port
  std::vector<std::uint8_t> port;  // by LID; 255: no route
};

/// An active port of a channel adapter.
struct IbHostPort {
  std::string adapter;      // "H-..."
  std::string description;  // "host12 mlx5_0"
  int lid = 0;
  int lmc = 0;
  std::string leaf;  // "S-..."
  double gbit_s = 0;
};

struct IbFiles {
  std::map<std::string, IbSwitch> switches;  // by "S-GUID"
  std::vector<IbHostPort> ports;             // by LID; without the ports of switches with SHARP
  std::string cables_file;
  std::string tables_file;
};

/// Reads the files of a folder, under the usual names of the tools' output: ibnetdiscover[.txt], ibnet.txt,
/// *.ibnetdiscover; dump_fts[.txt], lfts.txt, opensm-lfts.dump. Each may be packed (.gz). Throws Error `io`
/// if a file is missing, and `parse` with file and line.
IbFiles read_ib_files(const std::string& folder);

}  // namespace nuice::topo
