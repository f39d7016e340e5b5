// SPDX-License-Identifier: BSD-3-Clause
// nuice-bench: exchange time of planned methods beside MPI's own, with every byte verified.
//
//   mpiexec -n N nuice-bench --matrix FILE.mtx --schedulers ac,rs_n,coloring:barrier,neighbor --json
//   mpiexec -n N nuice-bench --broadcast 4096 --root 0 --group 1,2,5 --schedulers lib,reb,reb:async,bcast
//
// Exit code, the same on all ranks: 0 done; 1 an exchange failed or delivered wrong bytes; 2 bad command line
// or matrix.
#include <mpi.h>

#include <cstdio>
#include <string>

#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/plan/broadcaster.hpp"
#include "nuice_bench/input.hpp"
#include "nuice_bench/measure.hpp"
#include "nuice_bench/options.hpp"
#include "nuice_bench/receive_lists.hpp"
#include "nuice_bench/report.hpp"

namespace nuice::bench {
namespace {

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

void print(std::FILE* file, const std::string& text) {
  if (mpi::world_rank() == 0) std::fputs(text.c_str(), file);
}

int fail(int exit_code, const Error& error, const Options& options) {
  print(stderr, "nuice-bench: " + std::string(error.what()) + "\n");
  if (options.json) print(stdout, error_json(error.code(), error.what()));
  return exit_code;
}

/// Wrong ranks of a broadcast are bad input; every rank sees them alike.
void check_ranks(const Options& options) {
  if (!options.broadcast) return;
  const std::vector<Rank> group = options.broadcast->group.value_or(std::vector<Rank>{});
  (void)make_broadcast("reb", mpi::world_size(), options.broadcast->root, group);
}

Payload make_payload(const Options& options, const Input& input) {
  if (!options.broadcast) return {mpi::world_rank(), input.destinations, input.sources};
  const BroadcastProblem& problem = *options.broadcast;
  return Payload::of_broadcast(mpi::world_rank(), problem.root, problem.bytes,
                               is_member(problem, mpi::world_rank()));
}

void run_and_report(const Options& options, const Input& input) {
  std::optional<Payload> payload;
  mpi::all_or_none(MPI_COMM_WORLD, [&] { payload = make_payload(options, input); });
  const Setting setting{options, input, mpi::world_size(), mpi_library()};
  if (options.receive_lists) {
    print(stdout, time_receive_lists(setting, *payload));
    return;
  }
  const std::vector<Result> results = measure(options, *payload);
  print(stdout, options.json ? json_lines(setting, results) : table(setting, results));
}

int main_with_mpi(int argc, const char* const* argv) {
  const Parsed parsed = parse_command_line(argc, argv);
  print(stdout, parsed.out);
  print(stderr, parsed.err);
  if (!parsed.options) return parsed.exit_code;
  Input input;
  try {
    check_ranks(*parsed.options);
    if (!parsed.options->broadcast) input = read_input(parsed.options->matrix);
  } catch (const Error& error) {
    return fail(2, error, *parsed.options);
  }
  try {
    run_and_report(*parsed.options, input);
  } catch (const Error& error) {
    return fail(1, error, *parsed.options);
  }
  return 0;
}

}  // namespace
}  // namespace nuice::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int exit_code = nuice::bench::main_with_mpi(argc, argv);
  MPI_Finalize();
  return exit_code;
}
