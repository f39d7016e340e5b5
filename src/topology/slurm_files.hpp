// SPDX-License-Identifier: BSD-3-Clause
// Slurm's topology.conf (plugins topology/tree and topology/block) and topology.yaml, as Slurm reads them: keys in any case, blanks
// around "=", values in quotes, comments, lines that go on after "\", Include. References: slurm.schedmd.com/topology.conf.html and
// topology.yaml.html, Slurm's parse_config.c and hostlist.c.
#pragma once

#include <string>
#include <vector>

namespace nuice::topo {

/// A switch, or a block, which is a switch as well.
struct SlurmSwitch {
  std::string name;
  std::vector<std::string> hosts;
  std::vector<std::string> children;  // switches
  std::string where;                  // "FILE:LINE"
};

struct SlurmFile {
  std::vector<SlurmSwitch> switches;
  std::vector<SlurmSwitch> blocks;
};

/// By the end of its name (.yaml, .yml) one or the other; packed ones too (.gz). topology: which one of a topology.yaml; empty: the
/// first with cluster_default, else the first. Throws Error parse with file and line; not_applicable for a topology that has
/// neither switches nor blocks; io and limit.
SlurmFile read_slurm_file(const std::string& path, const std::string& topology);

/// slurm_yaml.cpp.
SlurmFile read_slurm_yaml(const std::string& path, const std::string& topology);

}  // namespace nuice::topo
