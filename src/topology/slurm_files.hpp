// SPDX-License-Identifier: BSD-3-Clause
// Reads Slurm's topology.conf (plugins topology/tree and topology/block) and topology.yaml as Slurm does:
// keys in upper or lower case, blanks around "=", values in quotes, comments, lines that continue after "\",
// Include. References: slurm.schedmd.com/topology.conf.html and topology.yaml.html, Slurm's parse_config.c
// and hostlist.c.
#pragma once

#include <string>
#include <vector>

namespace nuice::topo {

/// A switch, or a block, which is treated as a switch.
struct SlurmSwitch {
  std::string name;
  std::vector<std::string> hosts;
  std::vector<std::string> children;  // names of switches
  std::string where;                  // "FILE:LINE"
};

struct SlurmFile {
  std::vector<SlurmSwitch> switches;
  std::vector<SlurmSwitch> blocks;
};

/// Reads a file. The file's name says its format: topology.yaml if it ends in .yaml or .yml, otherwise
/// topology.conf. The file may be packed (.gz). topology: the name of a topology in topology.yaml. If it is
/// empty, takes the first topology with cluster_default or, if there is none, the first topology. Throws
/// Error `parse` with file and line; `not_applicable` for a topology that has neither switches nor blocks;
/// `io`; `limit`.
SlurmFile read_slurm_file(const std::string& path, const std::string& topology);

/// Reads a topology.yaml (slurm_yaml.cpp).
SlurmFile read_slurm_yaml(const std::string& path, const std::string& topology);

}  // namespace nuice::topo
