// SPDX-License-Identifier: BSD-3-Clause
// One byte per cell, and the inner loop of the wavefront expansion.
//
// Cells are stored column by column, with a wall between columns, so that no neighbour needs a bounds test.
// The low three bits of a byte mean: 0 free; 1 to 4 reached, at a distance that equals this value minus 1
// modulo 4; 6 on a path; 7 wall. The grid is bipartite, so neighbours of a reached cell are at a distance one
// less or one more, and the path can be traced back. The other bits mark the borders of stripes (part.hpp). A
// byte whose low four bits are 0 can be reached.
//
// Cost: a load and a store for each of four neighbours, no division, and no branch that depends on the maze,
// because half of such branches would be mispredicted. A cell takes 3 ns while the bytes fit into the core's
// cache. If nearly all cells are free, such branches are predicted correctly, and testing before writing is
// faster.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nuice::lee {

using Byte = std::uint8_t;
using Index = std::uint32_t;  ///< The index of a cell in an array of bytes.

inline constexpr Byte what_bits = 0x07;
inline constexpr Byte path_cell = 0x06;
inline constexpr Byte wall_cell = 0x07;
inline constexpr Byte ghost_bit =
    0x08;  ///< A copy of a neighbour rank's cell: never reached by the inner loop.
inline constexpr Byte left_bit = 0x10;   ///< The cell to the left is a ghost.
inline constexpr Byte right_bit = 0x20;  ///< ... to the right.
inline constexpr Byte border_bits = left_bit | right_bit;

constexpr bool can_be_reached(Byte byte) { return (byte & (what_bits | ghost_bit)) == 0; }
constexpr bool is_blocked(Byte byte) { return (byte & what_bits) >= path_cell; }
/// Returns the mark of cells that are reached at this distance.
constexpr Byte mark_of(std::uint64_t distance) { return static_cast<Byte>(1 + distance % 4); }

/// The number of elements beyond the ends of its queues that expand_cells may read and write.
inline constexpr std::size_t queue_slack = 16;
/// The share of walls up to which testing before writing is faster.
inline constexpr double few_walls_at_most = 0.08;

/// Writes `mark` to the neighbours of c that can be reached, and puts them at queue[tail ..). Returns the new
/// tail.
inline std::size_t reach_tested(Byte* bytes, Index c, Index* queue, std::size_t tail, Index stride,
                                Byte mark) {
  for (const Index n : {c - stride, c - 1, c + 1, c + stride})
    if (can_be_reached(bytes[n])) {
      bytes[n] |= mark;
      queue[tail++] = n;
    }
  return tail;
}

/// Does the same without a branch. It writes to all four neighbours, and advances the tail only past
/// neighbours that can be reached.
inline std::size_t reach_blindly(Byte* bytes, Index c, Index* queue, std::size_t tail, Index stride,
                                 Byte mark) {
  const Index west = c - stride, north = c - 1, south = c + 1, east = c + stride;
  const Byte at_west = bytes[west], at_north = bytes[north], at_south = bytes[south], at_east = bytes[east];
  const bool take_west = can_be_reached(at_west), take_north = can_be_reached(at_north);
  const bool take_south = can_be_reached(at_south), take_east = can_be_reached(at_east);
  queue[tail] = west;
  tail += static_cast<std::size_t>(take_west);
  queue[tail] = north;
  tail += static_cast<std::size_t>(take_north);
  queue[tail] = south;
  tail += static_cast<std::size_t>(take_south);
  queue[tail] = east;
  tail += static_cast<std::size_t>(take_east);
  bytes[west] = take_west ? static_cast<Byte>(at_west | mark) : at_west;
  bytes[north] = take_north ? static_cast<Byte>(at_north | mark) : at_north;
  bytes[south] = take_south ? static_cast<Byte>(at_south | mark) : at_south;
  bytes[east] = take_east ? static_cast<Byte>(at_east | mark) : at_east;
  return tail;
}

/// Expands cells[0 .. count), which may be a part of queue. Calls border(c, byte) for every cell that has a
/// border bit. Returns the new tail.
template <bool few_walls, typename Border>
inline std::size_t expand_cells(Byte* bytes, const Index* cells, std::size_t count, Index* queue,
                                std::size_t tail, Index stride, Byte mark, Border&& border) {
  constexpr std::size_t ahead = 12;
  for (const Index* const stop = cells + count; cells != stop; ++cells) {
    __builtin_prefetch(bytes + cells[ahead] - stride);
    __builtin_prefetch(bytes + cells[ahead] + stride);
    const Index c = *cells;
    if (const Byte byte = bytes[c]; (byte & border_bits) != 0) [[unlikely]]
      border(c, byte);
    if constexpr (few_walls)
      tail = reach_tested(bytes, c, queue, tail, stride, mark);
    else
      tail = reach_blindly(bytes, c, queue, tail, stride, mark);
  }
  return tail;
}

}  // namespace nuice::lee
