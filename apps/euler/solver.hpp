// SPDX-License-Identifier: BSD-3-Clause
// The finite-volume solver: linear reconstruction along edges, HLLC fluxes, three-stage Runge-Kutta.
//
//   ghosts of the flow          |  least-squares sums over interior edges, then over the others
//   ghosts of the gradients     |  fluxes over interior edges, then over the others       (000 fig. 10)
//   boundary fluxes, next state
//
// What stands to the right of | goes on while the ghosts to the left are under way.
#pragma once

#include <memory>
#include <vector>

#include "common/halos.hpp"
#include "euler/gas.hpp"
#include "euler/local_mesh.hpp"

namespace nuice::euler {

struct SolverOptions {
  Flow far{1, 0, 0, 1};  ///< Outside the far-field boundary.
  bool limited = false;  ///< Van Albada's limiter, for flows with shocks; smooth flows lose accuracy by it.
  bool walls_are_far = false;
  double cfl = 0.8;
};

class Solver {
 public:
  /// Collective. mesh and halos must outlive the solver.
  Solver(const LocalMesh& mesh, apps::Halos& halos, const SolverOptions& options);

  /// Of owned points.
  std::vector<State>& states() { return states_; }

  /// Collective. One time step, but not beyond end_s; returns its length.
  double step(double left_s);
  /// Collective. Sum of |d density / dt| area over all points, divided by the area.
  double residual();
  /// Pressure force on this rank's part of the wall.
  Vector wall_force() const;
  /// Collective. One update of the flow's ghosts, for timing.
  void exchange();

 private:
  void compute_rates();
  void sum_gradients(std::size_t begin, std::size_t end);
  void solve_gradients();
  void sum_fluxes(std::size_t begin, std::size_t end);
  void add_boundary_fluxes();
  double time_step() const;
  template <bool Limited>
  void sweep_fluxes(std::size_t begin, std::size_t end);

  const LocalMesh& mesh_;
  SolverOptions options_;
  std::vector<State> states_;
  std::vector<State> before_;      // at the beginning of the step
  std::vector<double> flow_;       // 4 per entry, ghosts too
  std::vector<double> gradients_;  // 8 per entry, ghosts too: d/dx of the four, then d/dy
  std::vector<double> sums_;       // 8 per entry: least-squares sums; those of ghosts are of no use
  std::vector<double> residuals_;  // 4 per entry: net flux out of the polygon; likewise
  std::unique_ptr<apps::GhostUpdate> update_flow_;
  std::unique_ptr<apps::GhostUpdate> update_gradients_;
};

}  // namespace nuice::euler
