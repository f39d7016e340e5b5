// SPDX-License-Identifier: BSD-3-Clause
// nuice-euler: the Euler equations of gas flow on unstructured triangles. The halos are planned by NUICE and,
// in the same run, exchanged by MPI itself.
//
//   mpiexec -n 4 nuice-euler              a vortex, checked: order, conservation, free stream
//   mpiexec -n 4 nuice-euler --mesh airfoil.mesh --mach 0.5 --alpha 2 --steps 2000 --vtk flow.vtk
//
// Exit code, the same on all ranks: 0 right; 1 a check failed; 2 bad command line or mesh.
#include <fmt/format.h>

#include <limits>

#include "common/exact_sum.hpp"
#include "euler/dual.hpp"
#include "euler/gas.hpp"
#include "euler/mesh.hpp"
#include "euler/report.hpp"
#include "euler/solver.hpp"
#include "euler/vtk.hpp"
#include "kit/errors.hpp"
#include "kit/program.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::euler {
namespace {

struct Options {
  kit::CommonOptions common;
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

/// A mesh and its dual. Only rank 0 has the triangles; every rank has the rest.
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

/// A method of exchanging halos, and the solver that uses it.
struct Run {
  std::string name;
  std::unique_ptr<apps::Halos> halos;
  LocalMesh mesh;
  std::unique_ptr<Solver> solver;
};

std::unique_ptr<Run> make_run(const apps::HaloWay& way, const Domain& domain, const Options& options,
                              const SolverOptions& solver) {
  const Rank rank = mpi::world_rank();
  auto run = std::make_unique<Run>();
  run->name = way.name;
  run->halos = way.make(entries_of(domain.dual, domain.owners, rank), kit::plan_options(options.common));
  run->mesh = make_local(domain.dual, domain.owners, rank, *run->halos);
  run->solver = std::make_unique<Solver>(run->mesh, *run->halos, solver);
  return run;
}

template <typename FlowAt>
void set_flow(Run& run, const Domain& domain, FlowAt&& flow_at) {
  for (std::size_t i = 0; i < run.mesh.num_owned(); ++i)
    run.solver->states()[i] = to_state(flow_at(domain.mesh.points[at(run.mesh.points[i])]));
}

/// Makes steps until time end, or the given number of steps. Returns their number.
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

/// Returns the root mean square error of the density against the exact vortex.
double vortex_error(const Run& run, const Domain& domain, double time) {
  const double square = sum_over_points(run, [&](std::size_t i) {
    const Vector& point = domain.mesh.points[at(run.mesh.points[i])];
    const double error = run.solver->states()[i][0] - vortex(point, time)[0];
    return run.mesh.area[i] * error * error;
  });
  return std::sqrt(square) / vortex_side;
}

/// Measures how fast a uniform flow changes if all boundaries are far-field boundaries. It should not change.
Finding free_stream(const Domain& domain, const Options& options, const Flow& flow) {
  const auto run = make_run(apps::halo_ways.front(), domain, options,
                            {.far = flow, .limited = options.limiter, .walls_are_far = true});
  set_flow(*run, domain, [&](const Vector&) { return flow; });
  return {"free_stream", "rate of change of a uniform flow", run->solver->residual(), 1e-12};
}

/// Runs all methods from the same flow, compares their states, and times their exchanges. Returns the runs.
template <typename FlowAt>
std::vector<std::unique_ptr<Run>> run_all(const Domain& domain, const Options& options,
                                          const SolverOptions& solver, double end, int max_steps,
                                          FlowAt&& flow_at, Report& report) {
  report.num_ranks = mpi::world_size();
  report.num_points = static_cast<std::int64_t>(domain.dual.num_points());
  report.num_edges = static_cast<std::int64_t>(domain.dual.edges.size());
  std::vector<std::unique_ptr<Run>> runs;
  std::vector<kit::Timed> ways;
  for (const apps::HaloWay& way : apps::halo_ways) {
    Run& run = *runs.emplace_back(make_run(way, domain, options, solver));
    if (auto facts = run.halos->facts(4)) report.halo = std::move(*facts);
    set_flow(run, domain, flow_at);
    run.solver->exchange();  // the first one also pays for MPI's connections
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = MPI_Wtime();
    report.num_steps = advance(run, end, max_steps);
    const double seconds = mpi::max_over_ranks(MPI_Wtime() - begin_s);
    const bool differs = run.solver->states() != runs.front()->solver->states();
    report.methods.push_back({run.name, seconds, mpi::max_over_ranks(differs ? 1 : 0) == 0});
    ways.push_back({run.name, [&run] { run.solver->exchange(); }});
  }
  report.times = apps::time_halos(ways, options.common.reps);
  return runs;
}

/// Collective. Returns the states by point on rank 0.
std::vector<State> gather_states(const Run& run, const Domain& domain) {
  std::vector<State> all(domain.dual.num_points(), State{});
  for (std::size_t i = 0; i < run.mesh.num_owned(); ++i)
    all[at(run.mesh.points[i])] = run.solver->states()[i];
  // Each point has one owner and zeros elsewhere.
  std::vector<State> sum(mpi::world_rank() == 0 ? all.size() : 0);
  MPI_Reduce(all.data(), sum.data(), static_cast<int>(4 * all.size()), MPI_DOUBLE, MPI_SUM, 0,
             MPI_COMM_WORLD);
  return sum;
}

/// Collective. Writes the flow if the options name a file.
void write_flow(const Options& options, const Run& run, const Domain& domain) {
  if (options.vtk.empty()) return;
  const std::vector<State> states = gather_states(run, domain);
  mpi::on_rank_0(MPI_COMM_WORLD, [&] { write_vtk(options.vtk, domain.mesh, states); });
}

/// Runs the vortex on two meshes; the second has half the distance between points.
Report run_vortex(const Options& options) {
  Report report;
  report.problem = fmt::format("isentropic vortex until t = {}", options.time);
  const SolverOptions solver{.limited = options.limiter, .cfl = options.cfl};
  const auto start = [](const Vector& point) { return vortex(point, 0); };
  constexpr int no_limit = std::numeric_limits<int>::max();

  const Domain coarse = make_domain([&] { return periodic_box(options.box, vortex_side); });
  const auto coarse_run = make_run(apps::halo_ways.front(), coarse, options, solver);
  set_flow(*coarse_run, coarse, start);
  (void)advance(*coarse_run, options.time, no_limit);
  const double coarse_error = vortex_error(*coarse_run, coarse, options.time);

  const Domain fine = make_domain([&] { return periodic_box(2 * options.box, vortex_side); });
  const auto runs = run_all(fine, options, solver, options.time, no_limit, start, report);
  Run& first = *runs.front();
  const double fine_error = vortex_error(first, fine, options.time);
  const double mass = total_mass(first);
  const auto end_states = first.solver->states();
  set_flow(first, fine, start);
  const double mass_before = total_mass(first);
  first.solver->states() = end_states;

  const double wanted_order = options.limiter ? 1 : 2;
  const auto error_on = [](const Domain& domain) {
    return fmt::format("density error with {} points", domain.dual.num_points());
  };
  report.findings = {
      {"coarse_error", error_on(coarse), coarse_error},
      {"fine_error", error_on(fine), fine_error},
      {"order", "observed order", std::log2(coarse_error / fine_error), {}, wanted_order},
      {"mass_change", "relative change of mass", std::abs(mass - mass_before) / mass_before, 1e-13},
      free_stream(fine, options, vortex_background())};
  write_flow(options, first, fine);
  return report;
}

/// Runs the flow around the walls of the mesh.
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
  // Coefficients for chord 1 and the dynamic pressure: drag along the flow, lift across it.
  const double speed = std::hypot(far[1], far[2]);
  const Vector along = Vector{far[1], far[2]} * (1 / speed);
  const double scale = 2 / (far[0] * speed * speed);
  report.findings = {free_stream(domain, options, far),
                     {"residual", "rate of change of the density, mean", runs.front()->solver->residual()},
                     {"lift", "lift coefficient", scale * cross(along, force)},
                     {"drag", "drag coefficient", scale * dot(along, force)}};
  write_flow(options, first, domain);
  return report;
}

int run(const kit::App& app, const Options& options) {
  if (options.mesh.empty() && options.box % 2 != 0) kit::refuse("--box must be even, as triangles alternate");
  const Report report = options.mesh.empty() ? run_vortex(options) : run_mesh(options);
  kit::write_pattern(options.common, report.halo.pattern, app);
  kit::print(options.common.json ? to_json(report) : to_text(report));
  return report.is_right() ? kit::success : kit::failure;
}

void add_options(kit::App& app, Options& options) {
  kit::add(app, "--mesh", options.mesh, "a mesh, as `nuice mesh` writes it; by default the vortex");
  kit::add(app, "--mach", options.mach, "Mach number of the flow, with --mesh", kit::range(0.01, 10.0));
  kit::add(app, "--alpha", options.alpha, "angle of attack in degrees, with --mesh", kit::range(-90.0, 90.0));
  kit::add(app, "--steps", options.steps, "time steps, with --mesh", kit::range(1, 100'000'000));
  kit::add(app, "--box", options.box, "points along each side of the coarser of the vortex's two boxes",
           kit::range(4, 4096));
  kit::add(app, "--time", options.time, "time that the vortex drifts", kit::range(1e-6, 1e6));
  kit::add(app, "--cfl", options.cfl, "time step as a fraction of the time in which a wave crosses a polygon",
           kit::range(0.01, 2.0));
  kit::add_flag(app, "--limiter", options.limiter, "limit slopes, for flows with shocks");
  kit::add(app, "--vtk", options.vtk, "write the flow here: density, pressure, Mach number, velocity");
  kit::add_common(app, options.common);
}

}  // namespace
}  // namespace nuice::euler

int main(int argc, char** argv) {
  nuice::euler::Options options;
  nuice::kit::App app{
      "Solves the Euler equations on triangles: an isentropic vortex in a periodic box, or the flow around "
      "the walls\n"
      "of a mesh. Three times: with halos planned by nuice, with MPI_Isend and MPI_Irecv, and with\n"
      "MPI_Neighbor_alltoallv.",
      "nuice-euler"};
  nuice::euler::add_options(app, options);
  return nuice::kit::run(argc, argv, app, [&] { return nuice::euler::run(app, options); });
}
