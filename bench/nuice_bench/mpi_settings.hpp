// SPDX-License-Identifier: BSD-3-Clause
// How MPI uses TCP here: times of an MPI mean little without it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kit/json.hpp"

namespace nuice::bench {

/// Of this rank. Variables by MPI_T, the environment of MPI libraries, and the TCP connections to other hosts.
struct MpiSettings {
  std::map<std::string, std::string> variables;    // those that matter here, and that the environment sets
  std::map<std::string, std::string> environment;  // of libfabric and UCX, which MPI_T does not know
  std::vector<std::string> unknown;                // of the environment, which this MPI does not know
  int connections = 0;
  int least_buffer = 0;  // receive buffers as the kernel counts them
  int largest_buffer = 0;
};

/// Between MPI_Init and MPI_Finalize; connections are those that are open now.
MpiSettings mpi_settings();

/// The last lines of a report.
std::string sentence(const MpiSettings& settings);

kit::Json to_json(const MpiSettings& settings);

}  // namespace nuice::bench
