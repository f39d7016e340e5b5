// SPDX-License-Identifier: BSD-3-Clause
// Mazes and nets: what nuice-lee routes.
//
// A maze file holds mazes, separated by empty lines. A maze is its rows, '.' free and '#' wall, and then its nets in the
// order in which they are routed, "net ROW COLUMN ROW COLUMN", from 0; without a target, "net ROW COLUMN", everything
// that can be reached is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// Largest number of rows or columns.
inline constexpr std::int32_t max_side = 32768;

/// All mazes of a file. Throws Error: io; parse, with file and line, for ragged lines, unknown characters, nets with an
/// end outside the maze or in a wall, mazes too large.
std::vector<Maze> read_mazes(const std::string& path);

/// How walls are laid out: every cell by itself, or squares of sides up to 1/32 of the maze that may overlap. Beyond
/// 40.7 % single cells leave nothing that spans the maze (site percolation); squares leave paths up to about 60 %.
enum class Walls { cells, blocks };

struct MazeOptions {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  double fraction = 0.25;  ///< Of the cells that are walls; 0 to 0.9.
  Walls walls = Walls::cells;
  std::uint64_t seed = 1;
  int nets =
      0;  ///< Between free cells of the largest connected part; all ends differ. 0: one flood from a cell near
          ///< the middle.
  double nearest = 0.4;   ///< Manhattan distance of their ends in sides of the maze, at least ...
  double farthest = 0.6;  ///< ... and at most (002 s.6).
};

/// The same maze on every platform. Throws Error invalid_argument where so many nets cannot be found.
Maze make_maze(const MazeOptions& options);

}  // namespace nuice::lee
