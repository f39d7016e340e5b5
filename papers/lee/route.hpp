// SPDX-License-Identifier: BSD-3-Clause
// The result of routing a net, and the sequential program: Lee's algorithm as in 002 fig. 9, level by level.
//
// Cost of a net: about 3 ns per cell if the maze fits the cache (cells.hpp), and 0.5 ns more to sweep it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "irregular/simulated.hpp"
#include "lee/part.hpp"
#include "nuice/core/random.hpp"

namespace nuice::lee {

enum class Status {
  routed,
  unreachable,
  blocked,  ///< An earlier path covers the source or the target.
  flooded,  ///< The net has no target.
};

/// The times of the three phases of 002 fig. 7.
struct Seconds {
  double expansion = 0;
  double recovery = 0;
  double sweeping = 0;
};

struct Route {
  Status status = Status::blocked;
  std::uint64_t length = 0;   ///< The number of steps of the path.
  std::uint64_t visited = 0;  ///< The number of cells that are not farther than the target.
  std::uint64_t levels = 0;   ///< The largest distance of these cells, plus one.
  std::uint64_t hash = 0;     ///< The sum of hash_of(id, distance) over these cells, modulo 2^64.
  std::string moves;          ///< The path from the source: N, W, S, E.
  bool same_result(const Route& other) const {
    return status == other.status && length == other.length && visited == other.visited &&
           levels == other.levels && hash == other.hash && moves == other.moves;
  }
  Seconds seconds;
};

inline std::uint64_t hash_of(std::int64_t id, std::uint64_t distance) {
  return mix64(static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15U ^ mix64(distance));
}

inline bool has_few_walls(const Maze& maze) {
  const auto walls = std::accumulate(maze.walls.begin(), maze.walls.end(), std::size_t{0});
  return static_cast<double>(walls) <= few_walls_at_most * static_cast<double>(maze.walls.size());
}

/// Routes in the whole maze on one process.
class Sequential {
 public:
  explicit Sequential(const Maze& maze)
      : maze_(maze),
        part_(maze, maze.columns, 1, 0),
        few_walls_(has_few_walls(maze)),
        queue_(part_.num_cells() + queue_slack) {}

  /// Routes a net. Paths of earlier nets are blocked. If keep_path is false, this path is removed afterwards.
  Route route(const Net& net, bool keep_path = true) {
    Route route;
    const Index source = part_.index(net.source);
    const Index target = net.has_target() ? part_.index(net.target) : source;
    if (!can_be_reached(part_.bytes[source]) || !can_be_reached(part_.bytes[target])) return route;
    const double begin_s = MPI_Wtime();
    const std::size_t count = expand(source, target, net.has_target());
    const double expanded_s = MPI_Wtime();
    const bool reached = net.has_target() && !can_be_reached(part_.bytes[target]);
    route.status = reached ? Status::routed : net.has_target() ? Status::unreachable : Status::flooded;
    measure(route);
    const double recovery_s = MPI_Wtime();
    if (reached) {
      route.length = route.levels - 1;
      std::vector<char> moves(route.length);
      (void)follow(part_, target, route.length, moves);
      route.moves.assign(moves.begin(), moves.end());
    }
    const double recovered_s = MPI_Wtime();
    part_.sweep(queue_.data(), count, keep_path);
    route.seconds = {expanded_s - begin_s, recovered_s - recovery_s, MPI_Wtime() - recovered_s};
    return route;
  }

 private:
  // Expands until the level of the target is complete, so that the result does not depend on the order within
  // levels.
  std::size_t expand(Index source, Index target, bool has_target) {
    const auto no_border = [](Index, Byte) {};
    const auto loop =
        few_walls_ ? expand_cells<true, decltype(no_border)&> : expand_cells<false, decltype(no_border)&>;
    Byte* const bytes = part_.bytes.data();
    queue_[0] = source;
    bytes[source] |= mark_of(0);
    first_of_ = {0, 1};
    while (!has_target || can_be_reached(bytes[target])) {
      const std::size_t head = first_of_[first_of_.size() - 2];
      const std::size_t stop = first_of_.back();
      const std::size_t tail = loop(bytes, queue_.data() + head, stop - head, queue_.data(), stop,
                                    part_.stride(), mark_of(first_of_.size() - 1), no_border);
      irregular::simulated_work(stop - head);
      if (tail == stop) break;
      first_of_.push_back(tail);
    }
    return first_of_.back();
  }

  void measure(Route& route) const {
    route.visited = first_of_.back();
    route.levels = first_of_.size() - 1;
    for (std::size_t d = 0; d < route.levels; ++d)
      for (std::size_t i = first_of_[d]; i < first_of_[d + 1]; ++i)
        route.hash += hash_of(maze_.id(part_.cell(queue_[i])), d);
  }

  const Maze& maze_;
  Part part_;
  bool few_walls_;
  std::vector<Index> queue_;
  std::vector<std::size_t> first_of_;  // positions in queue_ by distance; the last is the end
};

inline std::string_view name_of(Status status) {
  constexpr std::array<std::string_view, 4> names = {"routed", "unreachable", "blocked", "flooded"};
  return names[static_cast<std::size_t>(status)];
}

/// Returns whether the moves lead from the source to the target in route.length steps, over free neighbouring
/// cells of the maze.
inline bool is_path(const Maze& maze, const Net& net, const Route& route) {
  if (route.moves.size() != route.length) return false;
  Cell at = net.source;
  for (const char move : route.moves) {
    at.row += move == 'S' ? 1 : move == 'N' ? -1 : 0;
    at.column += move == 'E' ? 1 : move == 'W' ? -1 : 0;
    const bool inside = at.row >= 0 && at.column >= 0 && at.row < maze.rows && at.column < maze.columns;
    if (!inside || maze.wall(at)) return false;
  }
  return at == net.target;
}

}  // namespace nuice::lee
