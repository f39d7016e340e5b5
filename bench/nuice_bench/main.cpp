// SPDX-License-Identifier: BSD-3-Clause
// nuice-bench: exchange times of planned methods compared with MPI's own, with every byte verified.
//
//   mpiexec -n N nuice-bench --matrix FILE.mtx --schedulers ac,rs_n,coloring:async,neighbor --json
//   mpiexec -n N nuice-bench --broadcast 4096 --root 0 --group 1,2,5 --schedulers lib,reb,reb:async,bcast
//
// Exit code, the same on all ranks: 0 done; 1 an exchange failed or delivered wrong bytes; 2 bad command line
// or matrix.
#include "kit/program.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/plan/broadcaster.hpp"
#include "nuice_bench/receive_lists.hpp"

namespace nuice::bench {
namespace {

/// Reads the matrix, or checks the ranks of a broadcast. Every rank finds the same errors.
Input read_problem(const Options& options) {
  if (!options.broadcast) return read_input(options.matrix);
  const std::vector<Rank> group = options.broadcast->group.value_or(std::vector<Rank>{});
  (void)make_broadcast("reb", mpi::world_size(), options.broadcast->root, group);
  return {};
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
  Setting setting{options, input, mpi::world_size(), kit::mpi_library()};
  if (options.receive_lists) return kit::print(time_receive_lists(setting, *payload));
  const std::vector<Result> results = measure(options, *payload);
  setting.mpi_settings = mpi_settings();  // now that the connections are open
  kit::print(options.json ? json_lines(setting, results) : table(setting, results));
}

}  // namespace
}  // namespace nuice::bench

int main(int argc, char** argv) {
  using namespace nuice;
  bench::Options options;
  bench::Words words;
  nuice::kit::App app{
      "Times planned exchanges and MPI's own, on the matrix in a file, and verifies every byte.\n"
      "Start with as many ranks as the matrix has: mpiexec -n N nuice-bench --matrix FILE.mtx\n"
      "Broadcasts are timed instead with: mpiexec -n N nuice-bench --broadcast BYTES",
      "nuice-bench"};
  bench::add_options(app, options, words);
  return kit::run(argc, argv, app, [&] {
    bench::interpret(app, words, options);
    const bench::Input input = bench::read_problem(options);
    kit::or_fail([&] { bench::run_and_report(options, input); });
    return kit::success;
  });
}
