// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_am_bench/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>

#include "nuice/core/error.hpp"
#include "nuice/mpi/am.hpp"

namespace nuice::am_bench {
namespace {

constexpr int usage_error = 2;

}  // namespace

const std::vector<std::string>& group_names() {
  static const std::vector<std::string> names = {"pingpong",  "flood", "roundtrip",  "twoway",
                                                 "coalesced", "block", "shift",      "polling",
                                                 "computing", "fanin", "collective", "alltoall"};
  return names;
}

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options;
  options.transports = am::mpi::transports();
  CLI::App app{
      "Times active messages beside bare MPI (and bare UCX), in turns, repetition by repetition.\n"
      "Start with 2 ranks or more: mpiexec -n 2 nuice-am-bench",
      "nuice-am-bench"};
  app.add_option(
         "--groups", options.groups,
         "what to measure, separated by commas; by default everything:\n"
         "pingpong, flood (one way), roundtrip (flood with replies), twoway (flood), coalesced (8-byte "
         "items),\n"
         "block (002 fig. 14 and puts), shift (figs 17, 18), polling (fig. 16: F), computing (fig. 15),\n"
         "fanin (004 table 2), collective (quiesce, level, empty poll), alltoall (flood of all ranks)")
      ->delimiter(',')
      ->check(CLI::IsMember(group_names()));
  app.add_option("--transports", options.transports, "of nuice, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(am::mpi::transports()))
      ->capture_default_str();
  app.add_option("--reps", options.reps, "timed repetitions")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "repetitions before that")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--work", options.work, "factor for the operations in each repetition")
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  app.add_flag("--full", options.full, "all sizes of the papers' figures instead of a few");
  app.add_flag("--threads", options.threads,
               "MPI_THREAD_MULTIPLE, which costs every MPI call something, and in group computing the "
               "progress thread");
  app.add_flag("--json", options.json, "one JSON object per result and line, nothing else on stdout");
  try {
    app.parse(argc, argv);
    if (options.groups.empty()) options.groups = group_names();
    return {options, {}, {}, 0};
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    if (code != 0 && std::find(argv, argv + argc, std::string_view("--json")) != argv + argc)
      out << error_json(ErrorCode::invalid_argument, error.what());
    return {std::nullopt, out.str(), err.str(), code == 0 ? 0 : usage_error};
  }
}

}  // namespace nuice::am_bench
