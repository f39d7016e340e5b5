// SPDX-License-Identifier: BSD-3-Clause
// The finite-volume solver: linear reconstruction along edges, HLLC fluxes, three-stage Runge-Kutta.
//
//   ghosts of the flow          |  least-squares sums over interior edges, then over the others
//   ghosts of the gradients     |  fluxes over interior edges, then over the others       (000 fig. 10)
//   boundary fluxes, next state
//
// The work to the right of | proceeds while the ghosts to the left are in flight.
#pragma once

#include <mpi.h>

#include <limits>
#include <memory>
#include <vector>

#include "common/exact_sum.hpp"
#include "common/halos.hpp"
#include "euler/dual.hpp"
#include "euler/gas.hpp"
#include "kit/errors.hpp"

namespace nuice::euler {

struct SolverOptions {
  Flow far{1, 0, 0, 1};  ///< Outside the far-field boundary.
  bool limited = false;  ///< Van Albada's limiter, for flows with shocks. It costs accuracy in smooth flows.
  bool walls_are_far = false;
  double cfl = 0.8;
};

inline Flow flow_at(const std::vector<double>& flow, std::size_t i) {
  return {flow[4 * i], flow[4 * i + 1], flow[4 * i + 2], flow[4 * i + 3]};
}

class Solver {
 public:
  /// Collective. mesh and halos must outlive the solver.
  Solver(const LocalMesh& mesh, apps::Halos& halos, const SolverOptions& options)
      : mesh_(mesh),
        options_(options),
        states_(mesh.num_owned()),
        flow_(4 * halos.num_entries()),
        gradients_(8 * halos.num_entries()),
        sums_(8 * halos.num_entries()),
        residuals_(4 * halos.num_entries()),
        update_flow_(halos.bind(flow_, 4)),
        update_gradients_(halos.bind(gradients_, 8)) {}

  /// Returns the states of owned points.
  std::vector<State>& states() { return states_; }

  /// Collective. Makes one time step with Shu and Osher's three stages, of at most left_s. Returns its
  /// length.
  double step(double left_s) {
    before_ = states_;
    double length_s = 0;
    const double share_of_before[3] = {0, 0.75, 1.0 / 3};
    for (const double share : share_of_before) {
      compute_rates();
      if (share == 0) length_s = std::min(time_step(), left_s);
      for (std::size_t i = 0; i < states_.size(); ++i)
        for (std::size_t k = 0; k < 4; ++k) {
          const double next = states_[i][k] - length_s / mesh_.area[i] * residuals_[4 * i + k];
          states_[i][k] = share * before_[i][k] + (1 - share) * next;
        }
    }
    return length_s;
  }

  /// Collective. Returns the sum of |d density / dt| area over all points, divided by the total area.
  double residual() {
    compute_rates();
    apps::ExactSum change;
    apps::ExactSum area;
    for (std::size_t i = 0; i < mesh_.num_owned(); ++i) {
      change.add(std::abs(residuals_[4 * i]));
      area.add(mesh_.area[i]);
    }
    apps::RankSum sum(MPI_COMM_WORLD);
    const double all = sum(change);
    return all / sum(area);
  }

  /// Returns the pressure force on this rank's part of the wall.
  Vector wall_force() const {
    Vector force;
    for (std::size_t i = 0; i < mesh_.num_owned(); ++i) force += mesh_.wall[i] * to_flow(states_[i])[3];
    return force;
  }

  /// Collective. Updates the flow's ghosts once, for timing.
  void exchange() {
    update_flow_->start();
    update_flow_->wait();
  }

 private:
  void compute_rates() {
    for (std::size_t i = 0; i < mesh_.num_owned(); ++i) {
      const Flow here = to_flow(states_[i]);
      std::ranges::copy(here, flow_.begin() + static_cast<std::ptrdiff_t>(4 * i));
    }
    update_flow_->start();
    std::ranges::fill(sums_, 0.0);
    sum_gradients(0, mesh_.num_interior);
    update_flow_->wait();
    sum_gradients(mesh_.num_interior, mesh_.edges.size());
    solve_gradients();

    update_gradients_->start();
    std::ranges::fill(residuals_, 0.0);
    sum_fluxes(0, mesh_.num_interior);
    update_gradients_->wait();
    sum_fluxes(mesh_.num_interior, mesh_.edges.size());
    add_boundary_fluxes();
  }

  /// Adds along (w_b - w_a) / |along|^2 at both ends of each edge. The term is the same when seen from either
  /// end.
  void sum_gradients(std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      const DualEdge& edge = mesh_.edges[e];
      const double weight = 1 / dot(edge.along, edge.along);
      for (std::size_t k = 0; k < 4; ++k) {
        const double difference = weight * (flow_[4 * at(edge.b) + k] - flow_[4 * at(edge.a) + k]);
        sums_[8 * at(edge.a) + k] += difference * edge.along.x;
        sums_[8 * at(edge.a) + 4 + k] += difference * edge.along.y;
        sums_[8 * at(edge.b) + k] += difference * edge.along.x;
        sums_[8 * at(edge.b) + 4 + k] += difference * edge.along.y;
      }
    }
  }

  void solve_gradients() {
    for (std::size_t i = 0; i < mesh_.num_owned(); ++i) {
      const auto& [xx, xy, yy] = mesh_.inverse[i];
      for (std::size_t k = 8 * i; k < 8 * i + 4; ++k) {
        gradients_[k] = xx * sums_[k] + xy * sums_[k + 4];
        gradients_[k + 4] = xy * sums_[k] + yy * sums_[k + 4];
      }
    }
  }

  void sum_fluxes(std::size_t begin, std::size_t end) {
    options_.limited ? sweep_fluxes<true>(begin, end) : sweep_fluxes<false>(begin, end);
  }

  void add_boundary_fluxes() {
    for (std::size_t i = 0; i < mesh_.num_owned(); ++i) {
      const Flow here = flow_at(flow_, i);
      const Vector wall = options_.walls_are_far ? Vector{} : mesh_.wall[i];
      const Vector far = options_.walls_are_far ? mesh_.far[i] + mesh_.wall[i] : mesh_.far[i];
      const State out = hllc(here, options_.far, far);
      for (std::size_t k = 0; k < 4; ++k) residuals_[4 * i + k] += out[k];
      residuals_[4 * i + 1] += here[3] * wall.x;  // nothing flows through a wall: only pressure acts
      residuals_[4 * i + 2] += here[3] * wall.y;
    }
  }

  /// Returns cfl * the minimum of area / sum of wave speeds over the faces. Needs compute_rates().
  double time_step() const {
    std::vector<double> speeds(mesh_.num_owned(), 0);
    const auto add = [&](std::int32_t end, const Vector& normal) {
      if (at(end) >= mesh_.num_owned()) return;
      const Flow w = flow_at(flow_, at(end));
      const double length = std::sqrt(dot(normal, normal));
      speeds[at(end)] += 0.5 * (std::abs(w[1] * normal.x + w[2] * normal.y) + sound_speed(w) * length);
    };
    for (const DualEdge& edge : mesh_.edges) {
      add(edge.a, edge.normal);
      add(edge.b, edge.normal);
    }
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < mesh_.num_owned(); ++i) {
      add(static_cast<std::int32_t>(i), mesh_.wall[i] + mesh_.far[i]);
      least = std::min(least, options_.cfl * mesh_.area[i] / speeds[i]);
      if (!(speeds[i] > 0)) least = -1;  // NaN: the solution has diverged
    }
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    if (!(least > 0))
      kit::refuse(
          "the flow has broken down (negative pressure or density): take a smaller --cfl or --limiter");
    return least;
  }

  template <bool Limited>
  void sweep_fluxes(std::size_t begin, std::size_t end);

  const LocalMesh& mesh_;
  SolverOptions options_;
  std::vector<State> states_;
  std::vector<State> before_;      // at the beginning of the step
  std::vector<double> flow_;       // 4 per entry, ghosts too
  std::vector<double> gradients_;  // 8 per entry, ghosts too: d/dx of the four, then d/dy
  std::vector<double> sums_;       // 8 per entry: least-squares sums; unused for ghosts
  std::vector<double> residuals_;  // 4 per entry: net flux out of the polygon; unused for ghosts
  std::unique_ptr<apps::GhostUpdate> update_flow_;
  std::unique_ptr<apps::GhostUpdate> update_gradients_;
};

/// Returns van Albada's mean of two differences. It is near their average if they are alike, and small
/// otherwise.
inline double van_albada(double a, double b) {
  constexpr double tiny = 1e-12;
  return a * b <= 0 ? 0 : ((a * a + tiny) * b + (b * b + tiny) * a) / (a * a + b * b + 2 * tiny);
}

/// Returns the value half-way along the edge, extrapolated from a point. value: at the point. central: the
/// difference along the edge. slope: the gradient times the edge.
template <bool Limited>
double reconstruct(double value, double slope, double central) {
  const double upwind = 2 * slope - central;
  if constexpr (Limited) return value + 0.5 * van_albada(upwind, central);
  return value + (upwind + 2 * central) / 6;  // kappa = 1/3
}

template <bool Limited>
void Solver::sweep_fluxes(std::size_t begin, std::size_t end) {
  for (std::size_t e = begin; e < end; ++e) {
    const DualEdge& edge = mesh_.edges[e];
    const std::size_t a = at(edge.a);
    const std::size_t b = at(edge.b);
    Flow left{};
    Flow right{};
    for (std::size_t k = 0; k < 4; ++k) {
      const double central = flow_[4 * b + k] - flow_[4 * a + k];
      const double slope_a = gradients_[8 * a + k] * edge.along.x + gradients_[8 * a + 4 + k] * edge.along.y;
      const double slope_b = gradients_[8 * b + k] * edge.along.x + gradients_[8 * b + 4 + k] * edge.along.y;
      left[k] = reconstruct<Limited>(flow_[4 * a + k], slope_a, central);
      right[k] = reconstruct<Limited>(flow_[4 * b + k], -slope_b, -central);
    }
    const State flux = hllc(left, right, edge.normal);
    for (std::size_t k = 0; k < 4; ++k) {
      residuals_[4 * a + k] += flux[k];
      residuals_[4 * b + k] -= flux[k];
    }
  }
}

}  // namespace nuice::euler
