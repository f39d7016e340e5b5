// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of the maze: cyclic column stripes of some width (002 fig. 10), each with a ghost column to its left
// and right.
//
// Where a cell lies at the neighbour differs from where its ghost lies here by a number that is the same for all stripes,
// so an item is the receiver's own index, and nobody divides. A ghost is marked when an item comes from that cell: the
// path can then cross the border without asking.
#pragma once

#include <array>
#include <vector>

#include "lee/cells.hpp"
#include "lee/maze.hpp"
#include "nuice/core/types.hpp"

namespace nuice::lee {

/// What ranks send each other: the index of a cell at the receiver, and on which side of it the sender's cell lies.
using Item = std::uint32_t;
inline constexpr Item from_the_right = 0x80000000U;

class Part {
 public:
  /// With one rank, one stripe. Requires width > 0, num_ranks <= columns.
  Part(const Maze& maze, std::int32_t width, Rank num_ranks, Rank rank);

  Rank owner(Cell cell) const { return static_cast<Rank>((cell.column / width_) % num_ranks_); }
  bool mine(Cell cell) const { return owner(cell) == rank_; }
  Index index(Cell cell) const;  ///< Of a cell of this rank.
  Cell cell(Index index) const;  ///< Of an own cell. Divides.

  Index stride() const { return stride_; }
  Rank left() const { return (rank_ + num_ranks_ - 1) % num_ranks_; }
  Rank right() const { return (rank_ + 1) % num_ranks_; }
  Item to_left(Index ghost) const { return (ghost + left_shift_) | from_the_right; }
  Item to_right(Index ghost) const { return ghost + right_shift_; }
  /// Own cells at borders: no more items can come in a level, nor leave.
  std::size_t max_items() const;

  std::vector<Byte> bytes;
  /// Own cells: all other bytes are ghosts or walls between columns.
  std::size_t num_cells() const { return num_cells_; }

  /// Frees what was reached and the ghosts beside it. Walls stay; paths too, unless a path leads over these cells and
  /// shall not be kept.
  void sweep(const Index* cells, std::size_t count, bool keep_path);
  /// After sweeping: everything is free, wall or path, and every ghost unmarked.
  bool is_swept() const;

 private:
  std::int32_t stripe_columns(std::int32_t stripe) const;
  void fill_column(const Maze& maze, std::int32_t column, Index first, Byte flags);

  std::int32_t rows_;
  std::int32_t columns_;
  std::int32_t width_;
  Rank num_ranks_;
  Rank rank_;
  std::int32_t num_stripes_;  // of this rank
  Index stride_;
  Index left_shift_ = 0;
  Index right_shift_ = 0;
  std::size_t num_cells_ = 0;
};

/// Throws Error limit where a rank's part with its ghosts is too large for 31-bit indices.
void require_indices(const Maze& maze, std::int32_t width, Rank num_ranks);

/// Where a piece of a path has led.
struct Trail {
  Index cell;
  std::uint64_t distance;  ///< Of `cell`; 0: the source.
  Rank next;               ///< Who owns `cell`; it is then the index there. no_rank: the path is complete.
};

/// Follows the path back from an own cell at this distance, as far as this rank's cells go, and blocks them. Of several
/// neighbours that are nearer, the first of north, west, south, east: so the path is the same on any number of ranks.
/// moves[d] becomes the letter of the step from distance d to d + 1.
Trail follow(Part& part, Index cell, std::uint64_t distance, std::vector<char>& moves);

}  // namespace nuice::lee
