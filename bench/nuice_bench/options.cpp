// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <climits>
#include <sstream>

#include "nuice/error.hpp"
#include "nuice/scheduler.hpp"

namespace nuice::bench {
namespace {

constexpr int usage_error = 2;

struct PeerName {
  std::string_view name;
  Peer peer;
};
constexpr std::array<PeerName, 3> peer_names = {
    {{"alltoallv", Peer::alltoallv}, {"neighbor", Peer::neighbor}, {"isend", Peer::isend}}};

/// AC has a single phase in which a rank sends everything: only without order it is what the papers mean.
mpi::Executor usual_executor(std::string_view scheduler) {
  return scheduler == "ac" ? mpi::Executor::async : mpi::Executor::phased;
}

MethodSpec parse_method(const std::string& word, const std::string& default_executor) {
  for (const PeerName& row : peer_names)
    if (row.name == word) return {word, row.peer, {}, {}};
  const std::size_t colon = word.find(':');
  const std::string scheduler = word.substr(0, colon);
  try {
    (void)find_scheduler(scheduler);
  } catch (const Error& error) {
    throw Error(error.code(),
                std::string(error.what()) + "; or one of MPI's own: alltoallv, neighbor, isend");
  }
  const std::string executor = colon == std::string::npos ? default_executor : word.substr(colon + 1);
  return {word, std::nullopt, scheduler,
          executor.empty() && colon == std::string::npos ? usual_executor(scheduler)
                                                         : mpi::find_executor(executor)};
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> words = {"ac", "lp", "rs_n", "coloring", "alltoallv", "neighbor"};
  std::string executor;
  CLI::App app{
      "Times planned exchanges beside what MPI offers, on the matrix in a file, and verifies every byte.\n"
      "Start with as many ranks as the matrix has: mpiexec -n N nuice-bench --matrix FILE.mtx",
      "nuice-bench"};
  app.add_option("--matrix", options.matrix, "communication matrix, Matrix Market, value = bytes")
      ->required();
  app.add_option("--schedulers", words,
                 "what to compare, separated by commas: SCHEDULER or SCHEDULER:EXECUTOR (async, phased, "
                 "barrier, credit), and alltoallv, neighbor, isend, which are MPI's own")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--reps", options.reps, "timed repetitions")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "repetitions before that, verified but not timed")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--executor", executor,
                 "for schedulers that name none; by default async for ac and phased for the others");
  app.add_option("--max-sends-in-flight", options.max_sends_in_flight,
                 "executor async only: limit for each rank, with synchronous sends; 0 for none")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--chunk-bytes", options.chunk_bytes, "executor credit only: messages travel in such chunks")
      ->check(CLI::Range(Bytes{1}, Bytes{INT_MAX}))
      ->capture_default_str();
  app.add_option("--window-bytes", options.window_bytes,
                 "executor credit only: at most so many are on their way to a rank")
      ->check(CLI::Range(Bytes{1}, max_bytes))
      ->capture_default_str();
  app.add_option("--topology", options.topology,
                 "network, for schedulers that avoid link contention: torus:4x4, ...");
  app.add_option("--seed", options.seed, "of the schedulers that use one")->capture_default_str();
  app.add_option(
         "--phase-cost-bytes", options.phase_cost_bytes,
         "what a phase costs beside its largest transfer, as bytes that could be sent meanwhile; kpbs looks "
         "at it")
      ->check(CLI::Range(Bytes{0}, max_bytes))
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON object per method and line, nothing else on stdout");
  try {
    app.parse(argc, argv);
    for (const std::string& word : words) options.methods.push_back(parse_method(word, executor));
    return {options, {}, {}, 0};
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    return {std::nullopt, out.str(), err.str(), code == 0 ? 0 : usage_error};
  } catch (const Error& error) {
    return {std::nullopt, {}, "nuice-bench: " + std::string(error.what()) + "\n", usage_error};
  }
}

}  // namespace nuice::bench
