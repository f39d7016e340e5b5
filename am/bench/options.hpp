// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-am-bench.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kit/command_line.hpp"

namespace nuice::am_bench {

struct Options {
  std::vector<std::string> groups;
  std::vector<std::string> transports;  ///< Of NUICE; by default all of this build.
  std::vector<std::string> methods;     ///< Run only methods whose names begin with one of these; empty: all.
  std::size_t bytes = 0;                ///< Size of the messages, items or blocks to measure; 0: all sizes.
  int reps = 15;
  int warmup = 2;
  double work = 1;       ///< Factor for the operations in one repetition.
  bool full = false;     ///< Whether to measure every size, not only the few of a quick run.
  bool threads = false;  ///< Start MPI with MPI_THREAD_MULTIPLE, and measure the progress thread.
  bool json = false;
};

void add_options(kit::App& app, Options& options);

}  // namespace nuice::am_bench
