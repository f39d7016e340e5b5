// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of the programs have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "nuice/mpi/plan.hpp"

namespace nuice::apps {

/// What is measured, and written besides the result.
struct OutputOptions {
  int reps = 30;
  bool json = false;
  std::string pattern;  ///< File for the communication matrix; empty for none.
};

/// How nuice carries the exchanges, for programs that take one way.
struct CommonOptions : OutputOptions {
  std::string scheduler = "coloring";
  std::string executor;  ///< Empty: async, or what the scheduler "auto" chooses.

  mpi::PlanOptions plan() const {
    const bool is_chosen = executor.empty() && scheduler == "auto";
    const std::string usual = is_chosen ? "auto" : "async";
    return {.scheduler = scheduler, .executor = executor.empty() ? usual : executor};
  }
};

/// Adds --reps, --pattern and --json.
void add_output(CLI::App& app, OutputOptions& options);

/// Adds --scheduler and --executor as well.
void add_common(CLI::App& app, CommonOptions& options);

/// Parses the command line, runs body() and returns the exit code: that of body(); 2 for a bad command line or an
/// Error, which rank 0 prints as one line; 0 for --help.
int parse_and_run(int argc, const char* const* argv, CLI::App& app, const std::function<int()>& body);

/// On rank 0 only.
void print(const std::string& text);

}  // namespace nuice::apps
