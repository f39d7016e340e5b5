// SPDX-License-Identifier: BSD-3-Clause
// Routing a net on all ranks: expansion by any scheme, path recovery from rank to rank, sweeping by each rank.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>

#include "lee/route.hpp"
#include "lee/wave.hpp"

namespace nuice::lee {

/// What all nets of a run share.
struct Team {
  MPI_Comm comm;
  const Maze& maze;
  Part& part;
  Wave& wave;
  std::optional<std::int64_t> delta;  ///< All ranks look together whether a net is done after so many levels.
  bool keep_paths = true;
  std::function<void(std::uint64_t farthest)>
      before_sweep;  ///< Called on all ranks, not timed; may be empty.
};

/// Levels between two looks: as given, or 0.2 M, M being the Manhattan distance of the net's ends (002 s.6); of half the
/// circumference where it has no target.
std::int64_t delta_of(const Team& team, const Net& net);

/// Collective. Whether source and target are free.
bool ends_are_free(const Team& team, const Net& net);
/// Collective. Fills all but the times; the wavefront must be complete. moves only on rank 0. Returns the seconds that
/// the recovery of the path took.
double finish_route(const Team& team, const Net& net, Route& route);
double barrier_time_s(MPI_Comm comm);

/// Collective. Everything must be swept. The result is that of the sequential program, on rank 0.
template <typename Scheme>
Route route_net(Scheme& scheme, const Team& team, const Net& net) {
  Route route;
  if (!ends_are_free(team, net)) return route;
  const auto own = [&](Cell cell, bool exists) {
    return exists && team.part.mine(cell) ? std::optional(team.part.index(cell)) : std::nullopt;
  };
  team.wave.start(own(net.source, true), own(net.target, net.has_target()));
  const double begin_s = barrier_time_s(team.comm);
  irregular::run(scheme, team.wave, delta_of(team, net));
  const double expanded_s = barrier_time_s(team.comm);
  route.seconds.expansion = expanded_s - begin_s;
  route.seconds.recovery = finish_route(team, net, route);
  const double recovered_s = barrier_time_s(team.comm);
  team.wave.sweep(team.keep_paths);
  route.seconds.sweeping = barrier_time_s(team.comm) - recovered_s;
  return route;
}

}  // namespace nuice::lee
