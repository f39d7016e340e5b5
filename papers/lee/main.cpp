// SPDX-License-Identifier: BSD-3-Clause
// nuice-lee: Lee's maze routing in every message-passing scheme of paper 002, and the sequential program.
//
//   mpiexec -n 2 nuice-lee                                    256 x 256, four nets, all schemes, checked
//   mpiexec -n 2 nuice-lee --size 1024 --walls 0.3 --nets 0 --schemes AM-C-O --widths 64
//   mpiexec -n 4 nuice-lee --maze board.txt --distances d.i32 --grid routed.txt --json
//
// Exit code, the same on all ranks: 0 all ways found the same; 1 not; 2 bad command line or input.
#include <algorithm>

#include "irregular/stripes.hpp"
#include "irregular/with_scheme.hpp"
#include "kit/files.hpp"
#include "kit/program.hpp"
#include "kit/statistics.hpp"
#include "lee/options.hpp"
#include "lee/parallel.hpp"
#include "lee/report.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::lee {
namespace {

/// The times of each net's repetitions.
class Samples {
 public:
  void add(std::size_t net, const Seconds& seconds) {
    if (nets_.size() <= net) nets_.resize(net + 1);
    nets_[net].push_back(seconds);
  }

  /// Returns the mean over the nets of the fastest expansions.
  double fastest() const {
    return mean([](const std::vector<double>& samples) { return std::ranges::min(samples); },
                &Seconds::expansion);
  }
  /// Returns the mean over the nets of the medians over the repetitions.
  Seconds medians() const {
    return {mean(kit::median, &Seconds::expansion), mean(kit::median, &Seconds::recovery),
            mean(kit::median, &Seconds::sweeping)};
  }

 private:
  template <typename Of>
  double mean(Of&& of, double Seconds::* what) const {
    double sum = 0;
    for (const std::vector<Seconds>& of_net : nets_) {
      std::vector<double> samples;
      for (const Seconds& seconds : of_net) samples.push_back(seconds.*what);
      sum += of(samples) / static_cast<double>(nets_.size());
    }
    return sum;
  }
  std::vector<std::vector<Seconds>> nets_;
};

/// Collective. Gathers at(part, index) of every rank's own cells. Returns the values of all cells row by row,
/// on rank 0.
template <typename T, typename At>
std::vector<T> gather(const Team& team, T elsewhere, At&& at) {
  std::vector<T> values(team.maze.walls.size(), elsewhere);
  at([&](Cell cell, T value) { values[static_cast<std::size_t>(team.maze.id(cell))] = value; });
  std::vector<T> all(values.size());
  static_assert(sizeof(T) == 1 || sizeof(T) == 4);
  MPI_Reduce(values.data(), all.data(), static_cast<int>(values.size()),
             sizeof(T) == 1 ? MPI_SIGNED_CHAR : MPI_INT32_T, MPI_MAX, 0, team.comm);
  return all;
}

void write_distances(const Team& team, const std::string& path, std::uint64_t farthest) {
  const auto all = gather<std::int32_t>(team, -1, [&](auto&& put) {
    team.wave.for_each_cell([&](Index c, std::uint64_t distance) {
      if (distance <= farthest) put(team.part.cell(c), static_cast<std::int32_t>(distance));
    });
  });
  mpi::on_rank_0(MPI_COMM_WORLD, [&] { kit::write_file(path, std::as_bytes(std::span(all))); });
}

/// Writes the state of every byte. Writes '?' for a byte that sweep() should have freed.
void write_grid(const Team& team, const std::string& path) {
  const auto letter = [](Byte byte) {
    const Byte what = byte & what_bits;
    return static_cast<signed char>(what == 0           ? '.'
                                    : what == path_cell ? '+'
                                    : what == wall_cell ? '#'
                                                        : '?');
  };
  const auto all = gather<signed char>(team, 0, [&](auto&& put) {
    for (std::int32_t row = 0; row < team.maze.rows; ++row)
      for (std::int32_t column = 0; column < team.maze.columns; ++column)
        if (team.part.mine({row, column}))
          put({row, column}, letter(team.part.bytes[team.part.index({row, column})]));
  });
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
      text += static_cast<char>(all[i]);
      if ((i + 1) % static_cast<std::size_t>(team.maze.columns) == 0) text += '\n';
    }
    kit::write_file(path, text);
  });
}

/// Routes all nets of all mazes with one scheme on the ranks of comm.
class Run {
 public:
  Run(MPI_Comm comm, const std::vector<Maze>& mazes, const Options& options, const Case& what,
      const Report& report)
      : comm_(comm), mazes_(mazes), options_(options), case_(what), report_(report) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &num_ranks_);
  }

  /// Collective. Routes the nets. write: also writes --distances and --grid, on rank 0.
  Result operator()(bool write) {
    Wave wave(num_ranks_, options_.poll_cells);
    irregular::SchemeOptions scheme_options = case_.scheme;
    for (const Maze& maze : mazes_)
      scheme_options.max_items =
          std::max(scheme_options.max_items, Part(maze, case_.width, num_ranks_, rank_).max_items());
    irregular::with_scheme(
        comm_, scheme_options, Wave::neighbours(num_ranks_, rank_), wave, [&](auto& scheme) {
          std::size_t first_net = 0;
          for (std::size_t m = 0; m < mazes_.size(); ++m) {
            Part part(mazes_[m], case_.width, num_ranks_, rank_);
            wave.use(part, has_few_walls(mazes_[m]), irregular::find_scheme(case_.scheme.name).levels_late);
            Team team{.comm = comm_,
                      .maze = mazes_[m],
                      .part = part,
                      .wave = wave,
                      .delta = options_.delta,
                      .keep_paths = options_.keep_paths,
                      .before_sweep = {}};
            route_all(scheme, team, m, first_net, write && m + 1 == mazes_.size());
            first_net += mazes_[m].nets.size();
          }
          result_.transport = scheme.transport();
          report_traffic(scheme.traffic());
        });
    if (wave.corrections() != 0) right_ = false;
    finish();
    return result_;
  }

 private:
  template <typename Scheme>
  void route_all(Scheme& scheme, Team& team, std::size_t maze, std::size_t first_net, bool write) {
    const std::vector<Byte> fresh = team.part.bytes;
    for (int rep = 0; rep < options_.reps; ++rep) {
      team.part.bytes = fresh;
      const bool last = write && rep + 1 == options_.reps;
      for (std::size_t n = 0; n < team.maze.nets.size(); ++n) {
        if (last && n + 1 == team.maze.nets.size() && !options_.distances.empty())
          team.before_sweep = [&](std::uint64_t far) { write_distances(team, options_.distances, far); };
        const Route route = route_net(scheme, team, team.maze.nets[n]);
        samples_.add(first_net + n, route.seconds);
        if (rep == 0) verify(team, route, maze, n);
      }
      if (last && !options_.grid.empty()) write_grid(team, options_.grid);
    }
  }

  void verify(const Team& team, const Route& route, std::size_t maze, std::size_t net) {
    if (!team.part.is_swept()) right_ = false;
    if (rank_ != 0) return;
    result_.cells += route.visited;
    if (!options_.check) return;
    const Net& ends = team.maze.nets[net];
    if (!route.same_result(report_.routes[maze][net])) right_ = false;
    if (route.status == Status::routed && !is_path(team.maze, ends, route)) right_ = false;
  }

  void report_traffic(const irregular::Traffic& mine) {
    irregular::Traffic& traffic = result_.traffic;
    traffic = mine;
    const auto reps = static_cast<std::uint64_t>(options_.reps);
    traffic.items.resize(2);  // the same on all ranks; 0 without neighbours
    for (std::uint64_t* const value : {traffic.items.data(), traffic.items.data() + 1, &traffic.messages}) {
      MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_UINT64_T, MPI_MAX, comm_);
      *value /= reps;
    }
    traffic.levels /= reps;
    traffic.checks /= reps;
  }

  void finish() {
    int wrong = right_ ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm_);
    result_.right = wrong == 0;
    result_.scheme = case_.scheme.name;
    if (irregular::find_scheme(case_.scheme.name).active_messages)
      result_.sync = irregular::name_of(case_.scheme.sync);
    result_.width = case_.width;
    result_.num_ranks = num_ranks_;
    result_.seconds = samples_.medians();
    result_.fastest_expansion = samples_.fastest();
  }

  MPI_Comm comm_;
  const std::vector<Maze>& mazes_;
  const Options& options_;
  const Case& case_;
  const Report& report_;
  int rank_ = 0;
  int num_ranks_ = 1;
  Samples samples_;
  Result result_;
  bool right_ = true;
};

/// Routes all nets of all mazes on one rank, reps times. Fills report.routes and report.sequential.
void run_sequential(const std::vector<Maze>& mazes, const Options& options, Report& report) {
  Samples samples;
  report.routes.resize(mazes.size());
  for (int rep = 0; rep < options.reps; ++rep) {
    std::size_t net = 0;
    for (std::size_t m = 0; m < mazes.size(); ++m) {
      Sequential program(mazes[m]);
      for (const Net& ends : mazes[m].nets) {
        Route route = program.route(ends, options.keep_paths);
        samples.add(net++, route.seconds);
        if (rep > 0) continue;
        report.sequential.cells += route.visited;
        report.routes[m].push_back(std::move(route));
      }
    }
  }
  report.sequential.seconds = samples.medians();
  report.sequential.fastest_expansion = samples.fastest();
}

/// Returns the mazes, which all ranks read or make in the same way.
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

/// Runs the step on one rank while the others wait.
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
        report.alone.push_back(Run(MPI_COMM_SELF, mazes, options, *mine, report)(false));
      }
    });
  for (const Case& one : cases)
    report.results.push_back(Run(MPI_COMM_WORLD, mazes, options, one, report)(&one == &cases.back()));
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
