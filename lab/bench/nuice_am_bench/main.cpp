// SPDX-License-Identifier: BSD-3-Clause
// nuice-am-bench: active messages beside bare MPI and bare UCX.
//
//   mpiexec -n 2 nuice-am-bench                       everything, quickly
//   mpiexec -n 2 nuice-am-bench --groups flood,coalesced --reps 31 --json
//
// Exit code, the same on all ranks: 0 done; 1 a measurement failed; 2 bad command line or too few ranks.
#include <mpi.h>

#include <cstdio>
#include <string>

#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_am_bench/groups.hpp"
#include "nuice_am_bench/report.hpp"

namespace nuice::am_bench {
namespace {

void print(std::FILE* file, const std::string& text) {
  if (mpi::world_rank() != 0) return;
  std::fputs(text.c_str(), file);
  std::fflush(file);
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

void run(const Options& options) {
  Workshop workshop(options);
  const Setting setting{mpi::world_size(), options.reps, mpi_library(), ucx_description()};
  if (!options.json) print(stdout, heading(setting));
  for (const std::string& name : options.groups)
    for (const Group& group : workshop.groups(name)) {
      const std::vector<Row> rows = measure(group, {options.reps, options.warmup});
      print(stdout, options.json ? json_lines(setting, rows) : table(rows));
    }
}

int main_with_mpi(const Parsed& parsed) {
  print(stdout, parsed.out);
  print(stderr, parsed.err);
  if (!parsed.options) return parsed.exit_code;
  if (mpi::world_size() < 2) {
    const std::string complaint = "messages need two ranks: use mpiexec -n 2 nuice-am-bench";
    print(stderr, "nuice-am-bench: " + complaint + "\n");
    if (parsed.options->json) print(stdout, error_json(ErrorCode::invalid_argument, complaint));
    return 2;
  }
  try {
    run(*parsed.options);
  } catch (const Error& error) {
    std::fprintf(stderr, "nuice-am-bench: rank %d: %s\n", mpi::world_rank(), error.what());
    if (parsed.options->json) print(stdout, error_json(error.code(), error.what()));
    MPI_Abort(MPI_COMM_WORLD, 1);  // the others may wait for this rank
  }
  return 0;
}

}  // namespace
}  // namespace nuice::am_bench

int main(int argc, char** argv) {
  const nuice::am_bench::Parsed parsed = nuice::am_bench::parse_command_line(argc, argv);
  const bool threads = parsed.options && parsed.options->threads;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  const int exit_code = nuice::am_bench::main_with_mpi(parsed);
  MPI_Finalize();
  return exit_code;
}
