// SPDX-License-Identifier: BSD-3-Clause
// The command line of nuice-am-bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nuice::am_bench {

struct Options {
  std::vector<std::string> groups;      ///< Empty: all.
  std::vector<std::string> transports;  ///< Of nuice; those of this build.
  int reps = 15;
  int warmup = 2;
  double work = 1;       ///< Factor for the operations in one repetition.
  bool full = false;     ///< Every size, not the few of a quick run.
  bool threads = false;  ///< Start MPI with MPI_THREAD_MULTIPLE, and measure the progress thread.
  bool json = false;
};

/// What the command line asks for: options, or nothing but a text and an exit code (--help, or an error).
struct Parsed {
  std::optional<Options> options;
  std::string out;
  std::string err;
  int exit_code = 0;
};

/// The names that --groups takes.
const std::vector<std::string>& group_names();

/// Never throws for bad input, and prints nothing: every rank parses, one prints.
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace nuice::am_bench
