// SPDX-License-Identifier: BSD-3-Clause
// What InfiniBand's own tools say of a fabric: ibnetdiscover, which ports are joined; dump_fts (infiniband-diags) or
// OpenSM's opensm-lfts.dump, where every switch sends what.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nuice::topo {

/// A port of a switch, and what is on the other end.
struct IbCable {
  std::string peer;  // "S-0000000000200004", "H-..."
  int peer_port = 0;
  double gbit_s = 0;  // 0: not said
};

struct IbSwitch {
  std::string name;                // "leaf3"; its guid where it has none
  std::map<int, IbCable> cables;   // by port
  std::vector<std::uint8_t> port;  // by LID; 255: no way
};

/// A port of a channel adapter that is up.
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
  std::vector<IbHostPort> ports;             // by LID; without those of switches that reduce (SHARP)
  std::string cables_file;
  std::string tables_file;
};

/// Reads them from a folder, under the names that the tools give or that people use for their output:
/// ibnetdiscover[.txt], ibnet.txt, *.ibnetdiscover; dump_fts[.txt], lfts.txt, opensm-lfts.dump; each may be packed (.gz).
/// Throws Error io where one is missing, parse with file and line.
IbFiles read_ib_files(const std::string& folder);

}  // namespace nuice::topo
