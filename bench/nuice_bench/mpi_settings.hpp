// SPDX-License-Identifier: BSD-3-Clause
// How MPI uses TCP on this machine. Without it, times of an MPI mean little.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kit/json.hpp"

namespace nuice::bench {

/// This rank's settings: variables of MPI_T, the environment of MPI libraries, and the TCP connections to
/// other hosts.
struct MpiSettings {
  std::map<std::string, std::string> variables;    // variables that matter here or that the environment sets
  std::map<std::string, std::string> environment;  // variables of libfabric and UCX, which MPI_T lacks
  std::vector<std::string> unknown;                // variables in the environment that this MPI does not know
  int connections = 0;
  int least_buffer = 0;  // receive buffers as the kernel counts them
  int largest_buffer = 0;
};

/// Returns the settings. Call it between MPI_Init and MPI_Finalize; it sees the connections that are open
/// then.
MpiSettings mpi_settings();

/// Returns the last lines of a report.
std::string sentence(const MpiSettings& settings);

kit::Json to_json(const MpiSettings& settings);

}  // namespace nuice::bench
