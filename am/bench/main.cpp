// SPDX-License-Identifier: BSD-3-Clause
// nuice-am-bench: active messages compared with bare MPI and bare UCX.
//
//   mpiexec -n 2 nuice-am-bench                       everything, quickly
//   mpiexec -n 2 nuice-am-bench --groups flood,coalesced --reps 31 --json
//
// Exit code, the same on all ranks: 0 done; 1 a measurement failed; 2 bad command line or too few ranks.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bench/groups.hpp"
#include "bench/report.hpp"
#include "kit/program.hpp"
#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::am_bench {
namespace {

bool is_wanted(const Method& method, const std::vector<std::string>& beginnings) {
  return beginnings.empty() || std::ranges::any_of(beginnings, [&](const std::string& beginning) {
           return method.name.starts_with(beginning);
         });
}

void run(const Options& options) {
  Workshop workshop(options);
  const Setting setting{mpi::world_size(), options.reps, kit::mpi_library(), ucx_description()};
  if (!options.json) kit::print(heading(setting));
  for (const std::string& name : options.groups)
    for (Group& group : workshop.groups(name)) {
      std::erase_if(group.methods, [&](const Method& method) { return !is_wanted(method, options.methods); });
      if (group.methods.empty() || (options.bytes != 0 && options.bytes != group.bytes)) continue;
      const std::vector<Row> rows = measure(group, {options.reps, options.warmup});
      kit::print(options.json ? json_lines(setting, rows) : table(rows));
    }
}

}  // namespace
}  // namespace nuice::am_bench

int main(int argc, char** argv) {
  using namespace nuice;
  am_bench::Options options;
  nuice::kit::App app{
      "Times active messages, plain MPI and plain UCX, interleaved repetition by repetition.\n"
      "Start with 2 ranks or more: mpiexec -n 2 nuice-am-bench",
      "nuice-am-bench"};
  am_bench::add_options(app, options);
  // The level of thread support must be known before MPI is initialised, and so before the options are
  // parsed.
  const bool threads = std::find(argv, argv + argc, std::string_view("--threads")) != argv + argc;
  const auto body = [&] {
    if (mpi::world_size() < 2)
      throw Error(ErrorCode::invalid_argument, "messages need two ranks: use mpiexec -n 2 nuice-am-bench");
    kit::or_abort([&] { am_bench::run(options); });
    return kit::success;
  };
  return kit::run(argc, argv, app, body, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
}
