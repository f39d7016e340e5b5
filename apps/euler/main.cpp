// SPDX-License-Identifier: BSD-3-Clause
// nuice-euler: the Euler equations of gas flow on unstructured triangles, with the halos planned by nuice and, in the
// same run, by MPI itself.
//
//   mpiexec -n 4 nuice-euler                      an isentropic vortex, checked: order, conservation, free stream
//   mpiexec -n 4 nuice-euler --mesh airfoil.mesh --mach 0.5 --alpha 2 --steps 2000 --vtk flow.vtk
//
// Exit code, the same on all ranks: 0 right; 1 a check failed; 2 bad command line or mesh.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <limits>

#include "common/exact_sum.hpp"
#include "euler/cases.hpp"
#include "euler/dual.hpp"
#include "euler/mesh.hpp"
#include "euler/report.hpp"
#include "euler/solver.hpp"
#include "euler/vtk.hpp"
#include "kit/command_line.hpp"
#include "kit/timing.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/text_io.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::euler {
namespace {

struct Options {
  apps::CommonOptions common;
  std::string mesh;
  int box = 32;
  double time = 1;
  double mach = 0.5;
  double alpha = 2;
  int steps = 200;
  double cfl = 0.8;
  bool limiter = false;
  std::string vtk;
};

template <typename T>
void broadcast(std::vector<T>& values) {
  auto count = static_cast<std::int64_t>(values.size());
  MPI_Bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  values.resize(static_cast<std::size_t>(count));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(values.data(), static_cast<int>(count), type, 0, MPI_COMM_WORLD);
  MPI_Type_free(&type);
}

/// A mesh and its dual. The triangles are on rank 0 only; all else is on every rank.
struct Domain {
  Mesh mesh;
  Dual dual;
  std::vector<Rank> owners;
};

/// Collective. make() is called on rank 0.
template <typename Make>
Domain make_domain(Make&& make) {
  Domain domain;
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    domain.mesh = make();
    domain.dual = make_dual(domain.mesh);
    domain.owners = partition(domain.dual, mpi::world_size());
  });
  broadcast(domain.mesh.points);
  broadcast(domain.dual.edges);
  broadcast(domain.dual.area);
  broadcast(domain.dual.wall);
  broadcast(domain.dual.far);
  broadcast(domain.owners);
  return domain;
}

enum class Way { nuice, isend, neighbor };

/// One way to exchange, and the solver that uses it.
struct Run {
  std::string name;
  std::unique_ptr<Halos> halos;
  LocalMesh mesh;
  std::unique_ptr<Solver> solver;
};

std::unique_ptr<Run> make_run(Way way, const Domain& domain, const Options& options,
                              const SolverOptions& solver, apps::HaloFacts& facts) {
  const std::vector<std::int64_t> needed = needed_points(domain.dual, domain.owners, mpi::world_rank());
  auto run = std::make_unique<Run>();
  switch (way) {
    case Way::nuice:
      run->name = "nuice";
      run->halos = make_with_nuice(domain.owners, needed, options.common.plan(), facts);
      break;
    case Way::isend:
      run->name = "isend";
      run->halos = make_with_isend(domain.owners, needed);
      break;
    case Way::neighbor:
      run->name = "neighbor";
      run->halos = make_with_neighbor(domain.owners, needed);
      break;
  }
  run->mesh = make_local(domain.dual, domain.owners, mpi::world_rank(), *run->halos);
  run->solver = std::make_unique<Solver>(run->mesh, *run->halos, solver);
  return run;
}

template <typename FlowAt>
void set_flow(Run& run, const Domain& domain, FlowAt&& flow_at) {
  for (std::size_t i = 0; i < run.mesh.num_owned(); ++i)
    run.solver->states()[i] =
        to_state(flow_at(domain.mesh.points[static_cast<std::size_t>(run.mesh.points[i])]));
}

/// Steps until time end, or so many; returns how many.
int advance(Run& run, double end, int max_steps) {
  int steps = 0;
  for (double time = 0; time < end && steps < max_steps; ++steps) time += run.solver->step(end - time);
  return steps;
}

double sum_over_points(const Run& run, const std::function<double(std::size_t)>& value) {
  apps::ExactSum mine;
  for (std::size_t i = 0; i < run.mesh.num_owned(); ++i) mine.add(value(i));
  return apps::RankSum(MPI_COMM_WORLD)(mine);
}

double total_mass(const Run& run) {
  return sum_over_points(run, [&](std::size_t i) { return run.mesh.area[i] * run.solver->states()[i][0]; });
}

/// Root of the mean square error of the density against the exact vortex.
double vortex_error(const Run& run, const Domain& domain, double time) {
  const double square = sum_over_points(run, [&](std::size_t i) {
    const Vector& at = domain.mesh.points[static_cast<std::size_t>(run.mesh.points[i])];
    const double error = run.solver->states()[i][0] - vortex(at, time)[0];
    return run.mesh.area[i] * error * error;
  });
  return std::sqrt(square) / vortex_side;
}

/// How fast a uniform flow changes, which it should not, boundaries all being far ones.
double free_stream_residual(const Domain& domain, const Options& options, const Flow& flow) {
  apps::HaloFacts facts;
  const auto run = make_run(Way::nuice, domain, options,
                            {.far = flow, .limited = options.limiter, .walls_are_far = true}, facts);
  set_flow(*run, domain, [&](const Vector&) { return flow; });
  return run->solver->residual();
}

/// Runs all ways from the same flow, compares their states, and times their exchanges. Returns the runs.
template <typename FlowAt>
std::vector<std::unique_ptr<Run>> run_all(const Domain& domain, const Options& options,
                                          const SolverOptions& solver, double end, int max_steps,
                                          FlowAt&& flow_at, Report& report) {
  report.num_ranks = mpi::world_size();
  report.num_points = static_cast<std::int64_t>(domain.dual.num_points());
  report.num_edges = static_cast<std::int64_t>(domain.dual.edges.size());
  std::vector<std::unique_ptr<Run>> runs;
  std::vector<apps::Timed> ways;
  for (const Way way : {Way::nuice, Way::isend, Way::neighbor}) {
    Run& run = *runs.emplace_back(make_run(way, domain, options, solver, report.halo));
    set_flow(run, domain, flow_at);
    run.solver->exchange();  // the first one also pays for MPI's connections
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = MPI_Wtime();
    report.num_steps = advance(run, end, max_steps);
    const double seconds = mpi::max_over_ranks(MPI_Wtime() - begin_s);
    const bool differs = run.solver->states() != runs.front()->solver->states();
    report.methods.push_back({run.name, seconds, {}, mpi::max_over_ranks(differs ? 1 : 0) == 0});
    ways.push_back({run.name, [&run] { run.solver->exchange(); }});
  }
  const apps::HaloTimes times = apps::time_halos(ways, options.common.reps);
  for (std::size_t i = 0; i < times.exchange_s.size(); ++i)
    report.methods[i].exchange_s = times.exchange_s[i];
  report.exchange_ratio = times.ratio;
  return runs;
}

/// Collective. By point, on rank 0.
std::vector<State> gather_states(const Run& run, const Domain& domain) {
  std::vector<State> all(domain.dual.num_points(), State{});
  for (std::size_t i = 0; i < run.mesh.num_owned(); ++i)
    all[static_cast<std::size_t>(run.mesh.points[i])] = run.solver->states()[i];
  // Each point has one owner and zeros elsewhere.
  std::vector<State> sum(mpi::world_rank() == 0 ? all.size() : 0);
  MPI_Reduce(all.data(), sum.data(), static_cast<int>(4 * all.size()), MPI_DOUBLE, MPI_SUM, 0,
             MPI_COMM_WORLD);
  return sum;
}

/// The vortex on two meshes, the second with half the distance of points.
Report run_vortex(const Options& options) {
  Report report;
  report.problem = fmt::format("isentropic vortex until t = {}", options.time);
  const SolverOptions solver{.limited = options.limiter, .cfl = options.cfl};
  const auto start = [](const Vector& at) { return vortex(at, 0); };
  constexpr int no_limit = std::numeric_limits<int>::max();

  const Domain coarse = make_domain([&] { return periodic_box(options.box, vortex_side); });
  const auto coarse_run = make_run(Way::nuice, coarse, options, solver, report.halo);
  set_flow(*coarse_run, coarse, start);
  (void)advance(*coarse_run, options.time, no_limit);
  const double coarse_error = vortex_error(*coarse_run, coarse, options.time);

  const Domain fine = make_domain([&] { return periodic_box(2 * options.box, vortex_side); });
  const auto runs = run_all(fine, options, solver, options.time, no_limit, start, report);
  const Run& first = *runs.front();
  const double fine_error = vortex_error(first, fine, options.time);
  const double mass = total_mass(first);
  Run& again = *runs.front();
  const auto end_states = again.solver->states();
  set_flow(again, fine, start);
  const double mass_before = total_mass(again);
  again.solver->states() = end_states;

  const double wanted_order = options.limiter ? 1 : 2;
  report.findings = {
      {"coarse_error",
       fmt::format("density error with {} points", coarse.dual.num_points()),
       coarse_error,
       {},
       {}},
      {"fine_error", fmt::format("density error with {} points", fine.dual.num_points()), fine_error, {}, {}},
      {"order", "observed order", std::log2(coarse_error / fine_error), {}, wanted_order},
      {"mass_change", "relative change of mass", std::abs(mass - mass_before) / mass_before, 1e-13, {}},
      {"free_stream",
       "rate of change of a uniform flow",
       free_stream_residual(fine, options, vortex_background()),
       1e-12,
       {}}};
  if (!options.vtk.empty()) {
    const std::vector<State> states = gather_states(first, fine);
    mpi::on_rank_0(MPI_COMM_WORLD, [&] { write_vtk(options.vtk, fine.mesh, states); });
  }
  return report;
}

/// Flow around what the mesh has walls of.
Report run_mesh(const Options& options) {
  Report report;
  report.problem =
      fmt::format("{}, Mach {}, angle of attack {} degrees", options.mesh, options.mach, options.alpha);
  const Flow far = uniform_flow(options.mach, options.alpha);
  const SolverOptions solver{.far = far, .limited = options.limiter, .cfl = options.cfl};
  const Domain domain = make_domain([&] { return load_mesh(options.mesh); });
  const auto start = [&](const Vector&) { return far; };
  const auto runs =
      run_all(domain, options, solver, std::numeric_limits<double>::infinity(), options.steps, start, report);
  const Run& first = *runs.front();
  apps::RankSum sum(MPI_COMM_WORLD);
  const Vector mine = first.solver->wall_force();
  const Vector force = {sum({mine.x, 0}), sum({mine.y, 0})};
  // Per chord 1 and dynamic pressure; drag along the flow, lift across.
  const double speed = std::hypot(far[1], far[2]);
  const Vector along = Vector{far[1], far[2]} * (1 / speed);
  const double scale = 2 / (far[0] * speed * speed);
  report.findings = {
      {"free_stream",
       "rate of change of a uniform flow",
       free_stream_residual(domain, options, far),
       1e-12,
       {}},
      {"residual", "rate of change of the density, mean", runs.front()->solver->residual(), {}, {}},
      {"lift", "lift coefficient", scale * cross(along, force), {}, {}},
      {"drag", "drag coefficient", scale * dot(along, force), {}, {}}};
  if (!options.vtk.empty()) {
    const std::vector<State> states = gather_states(first, domain);
    mpi::on_rank_0(MPI_COMM_WORLD, [&] { write_vtk(options.vtk, domain.mesh, states); });
  }
  return report;
}

int run(const Options& options) {
  if (options.mesh.empty() && options.box % 2 != 0)
    throw Error(ErrorCode::invalid_argument, "--box must be even, as triangles lie in turns");
  const Report report = options.mesh.empty() ? run_vortex(options) : run_mesh(options);
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    if (!options.common.pattern.empty())
      save_matrix_market(options.common.pattern, report.halo.pattern, "nuice-euler");
  });
  apps::print(options.common.json ? to_json(report) : to_text(report));
  return report.is_right() ? 0 : 1;
}

int main_with_mpi(int argc, const char* const* argv) try {
  Options options;
  CLI::App app{
      "Solves the Euler equations on triangles: an isentropic vortex in a periodic box, or the flow around "
      "the walls\n"
      "of a mesh. Three times: with halos planned by nuice, with MPI_Isend and MPI_Irecv, and with\n"
      "MPI_Neighbor_alltoallv.",
      "nuice-euler"};
  app.add_option("--mesh", options.mesh, "a mesh, as `nuice mesh` writes it; by default the vortex");
  app.add_option("--mach", options.mach, "Mach number of the flow, with --mesh")
      ->check(CLI::Range(0.01, 10.0))
      ->capture_default_str();
  app.add_option("--alpha", options.alpha, "angle of attack in degrees, with --mesh")
      ->check(CLI::Range(-90.0, 90.0))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "time steps, with --mesh")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--box", options.box, "points along each side of the coarser of the vortex's two boxes")
      ->check(CLI::Range(4, 4096))
      ->capture_default_str();
  app.add_option("--time", options.time, "how long the vortex drifts")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  app.add_option("--cfl", options.cfl,
                 "length of a time step, as a part of what a wave needs to cross a polygon")
      ->check(CLI::Range(0.01, 2.0))
      ->capture_default_str();
  app.add_flag("--limiter", options.limiter, "limit slopes, for flows with shocks");
  app.add_option("--vtk", options.vtk, "write the flow here: density, pressure, Mach number, velocity");
  apps::add_common(app, options.common);
  return apps::parse_and_run(argc, argv, app, [&] { return run(options); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "nuice-euler: %s\n", error.what());
  return 1;
}

}  // namespace
}  // namespace nuice::euler

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int exit_code = nuice::euler::main_with_mpi(argc, argv);
  MPI_Finalize();
  return exit_code;
}
