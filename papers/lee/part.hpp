// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of the maze: cyclic column stripes of some width (002 fig. 10), each with a ghost column to
// its left and right.
//
// The difference between a cell's index at the neighbour and its ghost's index here is the same for all
// stripes. So an item is the receiver's own index, and no rank divides. A ghost is marked when an item comes
// from its cell, so that the path can cross the border without a query.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kit/errors.hpp"
#include "lee/cells.hpp"
#include "lee/maze.hpp"
#include "nuice/core/types.hpp"

namespace nuice::lee {

/// The item that ranks send: the receiver's index of a cell, and the side on which the sender's cell lies.
using Item = std::uint32_t;
inline constexpr Item from_the_right = 0x80000000U;

class Part {
 public:
  /// Builds the part. A single rank has one stripe. Requires width > 0 and num_ranks <= columns.
  Part(const Maze& maze, std::int32_t width, Rank num_ranks, Rank rank)
      : rows_(maze.rows),
        columns_(maze.columns),
        width_(num_ranks == 1 ? maze.columns : std::min(width, maze.columns)),
        num_ranks_(num_ranks),
        rank_(rank),
        stride_(static_cast<Index>(maze.rows) + 1) {
    const std::int32_t all_stripes = (columns_ + width_ - 1) / width_;
    num_stripes_ = rank < all_stripes ? (all_stripes - 1 - rank) / num_ranks + 1 : 0;
    const auto local_columns = static_cast<Index>(num_stripes_ * (width_ + 2));
    bytes.assign(std::size_t{local_columns} * stride_ + 1, ghost_bit | wall_cell);
    // The index offset from the ghost next to a stripe to the cell at its owner. The owner's stripe has the
    // same number, or one more to the right of the last rank, or one less to the left of the first.
    const Index stripe = stride_ * static_cast<Index>(width_);
    right_shift_ = rank == num_ranks - 1 ? 2 * stride_ : 0U - stripe;
    left_shift_ = rank == 0 ? 0U - 2 * stride_ : stripe;
    for (std::int32_t s = 0; s < num_stripes_; ++s) {
      const std::int32_t first = (s * num_ranks + rank) * width_;
      const std::int32_t count = std::min(width_, columns_ - first);
      const Index at = static_cast<Index>(s * (width_ + 2)) * stride_ + 1;
      for (std::int32_t column = -1; column <= count; ++column) {
        if (first + column < 0 || first + column >= columns_) continue;
        Byte flags = column == -1 || column == count ? ghost_bit : 0;
        if (column == 0 && first > 0) flags |= left_bit;
        if (column == count - 1 && first + count < columns_) flags |= right_bit;
        fill_column(maze, first + column, at + static_cast<Index>(column + 1) * stride_, flags);
      }
      num_cells_ += static_cast<std::size_t>(std::int64_t{count} * rows_);
    }
  }

  Rank owner(Cell cell) const { return static_cast<Rank>((cell.column / width_) % num_ranks_); }
  bool mine(Cell cell) const { return owner(cell) == rank_; }

  /// Returns the index of a cell of this rank.
  Index index(Cell cell) const {
    const std::int32_t stripe = cell.column / width_ / num_ranks_;
    return static_cast<Index>(stripe * (width_ + 2) + 1 + cell.column % width_) * stride_ + 1 +
           static_cast<Index>(cell.row);
  }

  /// Returns the cell of an index of this rank. Divides.
  Cell cell(Index index) const {
    const auto column = static_cast<std::int32_t>((index - 1) / stride_);
    const std::int32_t stripe = column / (width_ + 2);
    return {static_cast<std::int32_t>((index - 1) % stride_),
            (stripe * num_ranks_ + rank_) * width_ + column % (width_ + 2) - 1};
  }

  Index stride() const { return stride_; }
  Rank left() const { return (rank_ + num_ranks_ - 1) % num_ranks_; }
  Rank right() const { return (rank_ + 1) % num_ranks_; }
  Item to_left(Index ghost) const { return (ghost + left_shift_) | from_the_right; }
  Item to_right(Index ghost) const { return ghost + right_shift_; }

  /// Returns the number of own cells at borders. In a level at most this number of items comes in or leaves.
  std::size_t max_items() const {
    return 2 * static_cast<std::size_t>(std::max(1, (columns_ + width_ - 1) / width_ / num_ranks_ + 1)) *
           static_cast<std::size_t>(rows_);
  }

  std::vector<Byte> bytes;
  /// Returns the number of own cells. All other bytes are ghosts or walls between columns.
  std::size_t num_cells() const { return num_cells_; }

  /// Frees reached cells and the ghosts next to them. Walls stay. A path over these cells stays if keep_path
  /// is set.
  void sweep(const Index* cells, std::size_t count, bool keep_path) {
    const Byte stays = keep_path ? path_cell : wall_cell;
    const auto clear = [&](Index c) {
      const Byte byte = bytes[c];
      bytes[c] = (byte & what_bits) >= stays ? byte : byte & static_cast<Byte>(~what_bits);
      return byte;
    };
    for (std::size_t i = 0; i < count; ++i) {
      const Byte byte = clear(cells[i]);
      if ((byte & border_bits) == 0) continue;
      if ((byte & left_bit) != 0) clear(cells[i] - stride_);
      if ((byte & right_bit) != 0) clear(cells[i] + stride_);
    }
  }

  /// Returns whether all cells are free, wall or path, and every ghost is unmarked, as after sweeping.
  bool is_swept() const {
    return std::ranges::all_of(bytes, [](Byte byte) {
      const Byte what = byte & what_bits;
      return what == 0 || what == path_cell || what == wall_cell;
    });
  }

 private:
  void fill_column(const Maze& maze, std::int32_t column, Index first, Byte flags) {
    for (std::int32_t row = 0; row < rows_; ++row)
      bytes[first + static_cast<Index>(row)] = maze.wall({row, column}) ? flags | wall_cell : flags;
  }

  std::int32_t rows_;
  std::int32_t columns_;
  std::int32_t width_;
  Rank num_ranks_;
  Rank rank_;
  std::int32_t num_stripes_;  // number of this rank's stripes
  Index stride_;
  Index left_shift_ = 0;
  Index right_shift_ = 0;
  std::size_t num_cells_ = 0;
};

/// The end of a piece of a path.
struct Trail {
  Index cell;
  std::uint64_t distance;  ///< The distance of `cell`; 0: the source.
  Rank next;  ///< The owner of `cell`, which is then an index at that rank. no_rank: the path is complete.
};

/// Throws Error limit if a rank's part with its ghosts is too large for 31-bit indices.
inline void require_indices(const Maze& maze, std::int32_t width, Rank num_ranks) {
  if (num_ranks == 1) return;  // one stripe, which max_side limits
  const std::int64_t stripes = (maze.columns / width + 1) / num_ranks + 1;
  const std::int64_t bytes = stripes * (std::min(width, maze.columns) + 2) * (std::int64_t{maze.rows} + 1);
  if (bytes >= std::int64_t{from_the_right})
    kit::fail(ErrorCode::limit, "stripes of width {} of a maze of {} x {} are too many cells for a rank",
              width, maze.rows, maze.columns);
}

/// Follows the path back from an own cell at this distance through this rank's cells, and blocks these cells.
/// If several neighbours are nearer, it takes the first of north, west, south, east. So the path is the same
/// on any number of ranks. moves[d] becomes the letter of the step from distance d to d + 1.
inline Trail follow(Part& part, Index cell, std::uint64_t distance, std::vector<char>& moves) {
  struct Step {
    Index by;
    char back;  // the opposite step
  };
  const std::array<Step, 4> steps = {
      {{0U - 1U, 'S'}, {0U - part.stride(), 'E'}, {1U, 'N'}, {part.stride(), 'W'}}};
  while (distance > 0) {
    const Byte wanted = mark_of(distance - 1);
    const auto* const step = std::ranges::find_if(
        steps, [&](const Step& s) { return (part.bytes[cell + s.by] & what_bits) == wanted; });
    if (step == steps.end()) break;  // impossible: a neighbour reached the cell
    Byte& byte = part.bytes[cell];
    byte = static_cast<Byte>((byte & ~what_bits) | path_cell);
    cell += step->by;
    --distance;
    moves[distance] = step->back;
    if ((part.bytes[cell] & ghost_bit) == 0) continue;
    if (step->by == part.stride()) return {part.to_right(cell), distance, part.right()};
    return {part.to_left(cell) & ~from_the_right, distance, part.left()};
  }
  Byte& byte = part.bytes[cell];
  byte = static_cast<Byte>((byte & ~what_bits) | path_cell);
  return {cell, distance, no_rank};
}

}  // namespace nuice::lee
