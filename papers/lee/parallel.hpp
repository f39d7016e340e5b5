// SPDX-License-Identifier: BSD-3-Clause
// Routes a net on all ranks: expansion by any scheme, recovery of the path from rank to rank, and sweeping by
// each rank.
//
// One rank at a time follows the path, as in 002 s.3; the others wait for it. Cost: a message each time that
// the path leaves a stripe.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "lee/route.hpp"
#include "lee/wave.hpp"

namespace nuice::lee {

/// The data that all nets of a run share.
struct Team {
  MPI_Comm comm;
  const Maze& maze;
  Part& part;
  Wave& wave;
  std::optional<std::int64_t> delta;  ///< Levels after which all ranks test whether a net is done.
  bool keep_paths = true;
  std::function<void(std::uint64_t farthest)>
      before_sweep;  ///< Called on all ranks, not timed; may be empty.
};

inline double barrier_time_s(MPI_Comm comm) {
  MPI_Barrier(comm);
  return MPI_Wtime();
}

/// Returns the number of levels between two tests: as given, or 0.2 M, where M is the Manhattan distance of
/// the net's ends (002 s.6). A net without a target has M = half the circumference.
inline std::int64_t delta_of(const Team& team, const Net& net) {
  if (team.delta) return *team.delta;
  std::int64_t distance = (std::int64_t{team.maze.rows} + team.maze.columns) / 2;
  if (net.has_target()) {
    distance = std::abs(std::int64_t{net.source.row} - net.target.row) +
               std::abs(std::int64_t{net.source.column} - net.target.column);
  }
  return std::max<std::int64_t>(1, distance / 5);
}

inline std::uint64_t reduce(std::uint64_t value, MPI_Op op, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, op, comm);
  return value;
}

/// Collective. Returns whether source and target are free.
inline bool ends_are_free(const Team& team, const Net& net) {
  const auto blocked = [&](Cell cell) {
    return team.part.mine(cell) && !can_be_reached(team.part.bytes[team.part.index(cell)]);
  };
  return reduce(blocked(net.source) || (net.has_target() && blocked(net.target)) ? 1 : 0, MPI_MAX,
                team.comm) == 0;
}

inline constexpr int trail_tag = 1;

/// Recovers the path from rank to rank. The path is complete when no rank continues a trail.
inline void recover(const Team& team, Trail trail, bool mine, std::vector<char>& moves) {
  int rank = 0;
  int num_ranks = 1;
  MPI_Comm_rank(team.comm, &rank);
  MPI_Comm_size(team.comm, &num_ranks);
  using Message = std::array<std::uint64_t, 3>;  // index, distance, whether the path continues
  for (;;) {
    if (!mine) {
      Message message{};
      MPI_Recv(message.data(), 3, MPI_UINT64_T, MPI_ANY_SOURCE, trail_tag, team.comm, MPI_STATUS_IGNORE);
      if (message[2] == 0) return;
      trail = {static_cast<Index>(message[0]), message[1], rank};
    }
    trail = follow(team.part, trail.cell, trail.distance, moves);
    mine = false;
    const bool goes_on = trail.next != no_rank;
    const Message message = {trail.cell, trail.distance, goes_on ? 1U : 0U};
    for (Rank other = 0; other < num_ranks; ++other)
      if (other != rank && (!goes_on || other == trail.next))
        MPI_Send(message.data(), 3, MPI_UINT64_T, other, trail_tag, team.comm);
    if (!goes_on) return;
  }
}

/// Computes sums over the cells that are not farther than the target.
inline void measure(const Team& team, std::uint64_t farthest, Route& route) {
  std::array<std::uint64_t, 2> sums = {0, 0};
  std::uint64_t levels = 0;
  team.wave.for_each_cell([&](Index cell, std::uint64_t distance) {
    if (distance > farthest) return;
    ++sums[0];
    sums[1] += hash_of(team.maze.id(team.part.cell(cell)), distance);
    levels = std::max(levels, distance + 1);
  });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, team.comm);
  route.visited = sums[0];
  route.hash = sums[1];
  route.levels = reduce(levels, MPI_MAX, team.comm);
}

/// Collective. Fills all of route except the times; the wavefront must be complete. moves is filled on rank 0
/// only. Returns the seconds that the recovery of the path took.
inline double finish_route(const Team& team, const Net& net, Route& route) {
  const std::uint64_t length =
      reduce(team.wave.found(), MPI_MIN, team.comm);  // not_found is the largest number
  const bool reached = length != Wave::not_found;
  measure(team, length, route);
  if (team.before_sweep) team.before_sweep(length);
  route.status = reached ? Status::routed : net.has_target() ? Status::unreachable : Status::flooded;
  if (!reached) return 0;
  route.length = length;
  std::vector<char> moves(length);
  const bool mine = team.part.mine(net.target);
  const double begin_s = barrier_time_s(team.comm);
  recover(team, {mine ? team.part.index(net.target) : 0, length, no_rank}, mine, moves);
  const double end_s = barrier_time_s(team.comm);
  std::vector<char> all(length);
  MPI_Reduce(moves.data(), all.data(), static_cast<int>(length), MPI_BYTE, MPI_BOR, 0, team.comm);
  route.moves.assign(all.begin(), all.end());
  return end_s - begin_s;
}

/// Collective. Routes a net; all cells must be swept. The result, on rank 0, equals the sequential program's.
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
