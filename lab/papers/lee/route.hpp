// SPDX-License-Identifier: BSD-3-Clause
// What routing a net gives, and the sequential program: Lee's algorithm as 002 fig. 9, level by level.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lee/part.hpp"
#include "nuice/core/random.hpp"

namespace nuice::lee {

enum class Status {
  routed,
  unreachable,
  blocked,  ///< An earlier path covers the source or the target.
  flooded,  ///< A net without a target.
};
std::string_view name_of(Status status);

/// Of the three phases of 002 fig. 7.
struct Seconds {
  double expansion = 0;
  double recovery = 0;
  double sweeping = 0;
};

struct Route {
  Status status = Status::blocked;
  std::uint64_t length = 0;   ///< Steps of the path.
  std::uint64_t visited = 0;  ///< Cells that are not farther than the target.
  std::uint64_t levels = 0;   ///< Largest distance of these, and one.
  std::uint64_t hash = 0;     ///< Sum over these of hash_of(id, distance), modulo 2^64.
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

/// One process, the whole maze.
class Sequential {
 public:
  explicit Sequential(const Maze& maze);

  /// Paths of earlier nets block. With keep_path == false this one does not.
  Route route(const Net& net, bool keep_path = true);

 private:
  std::size_t expand(Index source, Index target, bool has_target);
  void measure(Route& route) const;

  const Maze& maze_;
  Part part_;
  bool few_walls_;
  std::vector<Index> queue_;
  std::vector<std::size_t> first_of_;  // by distance, in queue_; the last: behind all
};

bool has_few_walls(const Maze& maze);

/// The path from the source along the moves leads over free neighbouring cells of the maze to the target, in
/// route.length steps.
bool is_path(const Maze& maze, const Net& net, const Route& route);

}  // namespace nuice::lee
