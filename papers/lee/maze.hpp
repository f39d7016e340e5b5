// SPDX-License-Identifier: BSD-3-Clause
// The mazes and nets that nuice-lee routes.
//
// A maze file holds mazes, separated by empty lines. A maze consists of its rows, with '.' for a free cell
// and '#' for a wall. Its nets follow in the order in which they are routed: "net ROW COLUMN ROW COLUMN",
// counted from 0. A net without a target, "net ROW COLUMN", reaches every cell that can be reached.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kit/errors.hpp"
#include "kit/files.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::lee {

struct Cell {
  std::int32_t row = 0;
  std::int32_t column = 0;
  bool operator==(const Cell&) const = default;
};

struct Net {
  Cell source;
  Cell target{-1, -1};
  bool has_target() const { return target.row >= 0; }
};

struct Maze {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::vector<std::uint8_t> walls;  ///< rows x columns, row by row; 1: wall.
  std::vector<Net> nets;

  std::int64_t id(Cell cell) const { return std::int64_t{cell.row} * columns + cell.column; }
  bool wall(Cell cell) const { return walls[static_cast<std::size_t>(id(cell))] != 0; }
};

/// The largest number of rows or columns.
inline constexpr std::int32_t max_side = 32768;

/// How walls are laid out: as single cells, or as squares with sides up to 1/32 of the maze, which may
/// overlap. If more than 40.7 % of the single cells are walls, no path spans the maze (site percolation);
/// squares leave paths up to about 60 %.
enum class Walls { cells, blocks };

struct MazeOptions {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  double fraction = 0.25;  ///< The share of cells that are walls; 0 to 0.9.
  Walls walls = Walls::cells;
  std::uint64_t seed = 1;
  /// The number of nets between different free cells of the largest connected part. 0: one flood from a cell
  /// near the middle.
  int nets = 0;
  double nearest = 0.4;   ///< The least Manhattan distance of a net's ends, in sides of the maze (002 s.6).
  double farthest = 0.6;  ///< The largest such distance.
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path) {}

  std::vector<Maze> read() {
    while (in_.next()) {
      if (in_.line().empty()) {
        finish();
      } else if (in_.line().starts_with("net ")) {
        add_net(in_.line());
      } else {
        add_row(in_.line());
      }
    }
    finish();
    if (mazes_.empty()) throw Error(ErrorCode::parse, path_ + ": no maze in it");
    return std::move(mazes_);
  }

 private:
  void add_row(const std::string& line) {
    if (!maze_.nets.empty()) in_.fail("a row after a net; mazes are separated by empty lines");
    if (line.size() > max_side || maze_.rows == max_side) in_.fail("more than {} rows or columns", max_side);
    const auto width = static_cast<std::int32_t>(line.size());
    if (maze_.rows == 0) maze_.columns = width;
    if (width != maze_.columns) in_.fail("the row has {} cells, those above {}", width, maze_.columns);
    for (const char c : line) {
      if (c != '.' && c != '#') in_.fail("unknown character '{}'; expected '.' or '#'", c);
      maze_.walls.push_back(c == '#' ? 1 : 0);
    }
    ++maze_.rows;
  }

  void add_net(const std::string& line) {
    if (maze_.rows == 0) in_.fail("a net before its maze");
    std::istringstream fields(line.substr(4));
    std::vector<std::int32_t> numbers;
    for (std::int32_t value = 0; fields >> value;) numbers.push_back(value);
    if (!fields.eof() || (numbers.size() != 2 && numbers.size() != 4))
      in_.fail(R"(expected "net ROW COLUMN ROW COLUMN" or "net ROW COLUMN", found "{}")", line);
    Net net{.source = {numbers[0], numbers[1]}};
    require_free(net.source, "source");
    if (numbers.size() == 4) {
      net.target = {numbers[2], numbers[3]};
      require_free(net.target, "target");
    }
    maze_.nets.push_back(net);
  }

  void require_free(Cell cell, const std::string& what) const {
    const std::string where = what + " " + std::to_string(cell.row) + " " + std::to_string(cell.column);
    if (cell.row < 0 || cell.column < 0 || cell.row >= maze_.rows || cell.column >= maze_.columns)
      in_.fail("the {} is outside the maze", where);
    if (maze_.wall(cell)) in_.fail("the {} is inside a wall", where);
  }

  void finish() {
    if (maze_.rows == 0) return;
    if (maze_.nets.empty()) in_.fail("a maze without nets");
    mazes_.push_back(std::move(maze_));
    maze_ = {};
  }

  std::string path_;
  kit::LineReader in_;
  Maze maze_;
  std::vector<Maze> mazes_;
};

inline void add_single_walls(Maze& maze, const MazeOptions& options) {
  const std::uint64_t key = mix64(options.seed);
  const auto limit = static_cast<std::uint64_t>(options.fraction * 0x1p53);
  for (std::size_t i = 0; i < maze.walls.size(); ++i) maze.walls[i] = (mix64(key ^ i) >> 11) < limit ? 1 : 0;
}

inline void add_blocks(Maze& maze, const MazeOptions& options) {
  Random random(options.seed);
  const auto below = [&](std::int32_t bound) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(bound)));
  };
  const std::int32_t longest = std::max(2, std::min(maze.rows, maze.columns) / 32);
  auto left = static_cast<std::int64_t>(options.fraction * static_cast<double>(maze.walls.size()));
  while (left > 0) {
    const std::int32_t side = 1 + below(longest);
    const Cell corner{below(maze.rows), below(maze.columns)};
    for (std::int32_t row = corner.row; row < std::min(corner.row + side, maze.rows); ++row)
      for (std::int32_t column = corner.column; column < std::min(corner.column + side, maze.columns);
           ++column) {
        std::uint8_t& wall = maze.walls[static_cast<std::size_t>(maze.id({row, column}))];
        left -= wall == 0 ? 1 : 0;
        wall = 1;
      }
  }
}

/// Returns the cells of the largest connected part.
inline std::vector<Cell> largest_part(const Maze& maze) {
  std::vector<std::uint8_t> seen = maze.walls;
  std::vector<Cell> best;
  for (std::int32_t row = 0; row < maze.rows; ++row)
    for (std::int32_t column = 0; column < maze.columns; ++column) {
      if (seen[static_cast<std::size_t>(maze.id({row, column}))] != 0) continue;
      std::vector<Cell> part;
      const auto visit = [&](Cell cell) {
        if (cell.row < 0 || cell.column < 0 || cell.row >= maze.rows || cell.column >= maze.columns) return;
        std::uint8_t& mark = seen[static_cast<std::size_t>(maze.id(cell))];
        if (mark == 0) part.push_back(cell);
        mark = 1;
      };
      visit({row, column});
      for (std::size_t i = 0; i < part.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
        const Cell cell = part[i];
        visit({cell.row - 1, cell.column});
        visit({cell.row, cell.column - 1});
        visit({cell.row, cell.column + 1});
        visit({cell.row + 1, cell.column});
      }
      if (part.size() > best.size()) best = std::move(part);
    }
  return best;
}

inline void add_nets(Maze& maze, const MazeOptions& options) {
  const std::vector<Cell> part = largest_part(maze);
  if (part.empty()) kit::refuse("the maze has no free cell");
  const std::int32_t side = (maze.rows + maze.columns) / 2;
  Random random(mix64(options.seed) + 1);
  std::set<std::int64_t> ends;
  for (std::int64_t tries = 0; std::ssize(maze.nets) < options.nets; ++tries) {
    if (tries == 1'000'000)
      kit::refuse("{} nets with ends that far apart do not fit into this maze", options.nets);
    const Cell source = part[random.below(part.size())];
    const Cell target = part[random.below(part.size())];
    const std::int32_t distance = std::abs(source.row - target.row) + std::abs(source.column - target.column);
    if (distance < options.nearest * side || distance > options.farthest * side) continue;
    if (ends.contains(maze.id(source)) || ends.contains(maze.id(target))) continue;
    ends.insert({maze.id(source), maze.id(target)});
    maze.nets.push_back({source, target});
  }
  if (options.nets > 0) return;
  const Cell middle{maze.rows / 2, maze.columns / 2};
  const auto from_middle = [&](Cell c) {
    return std::abs(c.row - middle.row) + std::abs(c.column - middle.column);
  };
  maze.nets.push_back({.source = *std::ranges::min_element(part, {}, from_middle)});
}

/// Reads all mazes of a file. Throws Error io; or parse, with file and line, for ragged lines, unknown
/// characters, nets with an end outside the maze or in a wall, and mazes that are too large.
inline std::vector<Maze> read_mazes(const std::string& path) { return Reader(path).read(); }

/// Makes a maze, which is the same on every platform. Throws Error invalid_argument if it cannot find the
/// wanted number of nets.
inline Maze make_maze(const MazeOptions& options) {
  Maze maze{.rows = options.rows, .columns = options.columns, .walls = {}, .nets = {}};
  maze.walls.resize(static_cast<std::size_t>(std::int64_t{maze.rows} * maze.columns));
  if (options.walls == Walls::cells)
    add_single_walls(maze, options);
  else
    add_blocks(maze, options);
  add_nets(maze, options);
  return maze;
}

}  // namespace nuice::lee
