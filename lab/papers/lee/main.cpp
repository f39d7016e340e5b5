// SPDX-License-Identifier: BSD-3-Clause
// nuice-lee: Lee's maze routing in every message-passing scheme of paper 002, beside the sequential program.
//
//   mpiexec -n 2 nuice-lee                                    256 x 256, four nets, all schemes, checked
//   mpiexec -n 2 nuice-lee --size 1024 --walls 0.3 --nets 0 --schemes AM-C-O --widths 64
//   mpiexec -n 4 nuice-lee --maze board.txt --distances d.i32 --grid routed.txt --json
//
// Exit code, the same on all ranks: 0 all ways found the same; 1 not; 2 bad command line or input.
#include <algorithm>

#include "irregular/stripes.hpp"
#include "kit/program.hpp"
#include "lee/program.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::lee {
namespace {

/// All ranks read or make the same.
std::vector<Maze> mazes_of(const Options& options, const std::vector<Case>& cases) {
  std::vector<Maze> mazes;
  mpi::all_or_none(MPI_COMM_WORLD, [&] {
    if (options.file.empty())
      mazes.push_back(make_maze(options.maze));
    else
      mazes = read_mazes(options.file);
    for (const Maze& maze : mazes)
      for (const Case& one : cases) {
        (void)irregular::Stripes(maze.columns, one.width, mpi::world_size());
        require_indices(maze, one.width, mpi::world_size());
      }
  });
  return mazes;
}

/// One rank, while the others wait.
template <typename Step>
void alone(Step&& step) {
  mpi::on_rank_0(MPI_COMM_WORLD, step);
  MPI_Barrier(MPI_COMM_WORLD);
}

int run(Options& options) {
  const std::vector<Case> cases = interpret(options);
  std::vector<Maze> mazes = mazes_of(options, cases);
  Report report;
  report.rows = mazes[0].rows;
  report.columns = mazes[0].columns;
  report.num_ranks = mpi::world_size();
  report.num_mazes = mazes.size();
  for (const Maze& maze : mazes) report.num_nets += maze.nets.size();
  report.delta = options.delta;
  report.mazes = &mazes;
  alone([&] { run_sequential(mazes, options, report); });
  if (options.alone)
    alone([&] {
      for (const std::string& name : options.schemes) {
        const auto mine = std::ranges::find(cases, name, [](const Case& c) { return c.scheme.name; });
        report.alone.push_back(run_case(MPI_COMM_SELF, mazes, options, *mine, report, false));
      }
    });
  for (const Case& one : cases)
    report.results.push_back(run_case(MPI_COMM_WORLD, mazes, options, one, report, &one == &cases.back()));
  kit::print(options.json ? to_json(report) : to_text(report));
  return std::ranges::all_of(report.results, &Result::right) ? kit::success : kit::failure;
}

}  // namespace
}  // namespace nuice::lee

int main(int argc, char** argv) {
  nuice::lee::Options options;
  options.maze.nets = 4;
  nuice::kit::App app{
      "Routes nets through a maze one after the other, each on a shortest path that blocks those that "
      "follow:\n"
      "wavefront expansion, path recovery, sweeping. Cyclic column stripes, every message-passing scheme of "
      "paper 002,\n"
      "compared with the sequential program.",
      "nuice-lee"};
  nuice::lee::add_options(app, options);
  return nuice::kit::run(argc, argv, app, [&] { return nuice::lee::run(options); });
}
