// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a periodic N x N Ising lattice, and the inner loop of all programs here, which finds the
// sites that a batch of cluster sites adds.
//
// Columns are stored back to back, one byte per site. Empty cells lie before and after each column and
// between stripes (0: the cell has neither spin, so it is never added). If a site's neighbour is elsewhere
// (in another stripe, or at the other end of its column), the site has a mark, and the loop handles it after
// the others. So a site that is not at an edge needs no division, no test of owners and no unpredictable
// branch.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "irregular/stripes.hpp"
#include "kit/errors.hpp"
#include "wolff/random.hpp"

namespace nuice::wolff {

using Spin = std::uint8_t;  ///< 1 or 2.

inline constexpr std::int64_t max_size = 32768;

/// Returns the stride of columns. A stride has room for a column and the empty cell before it, in whole cache
/// lines. The same row of many adjacent columns falls into different sets of the cache.
inline std::int64_t padded(std::int64_t size) {
  constexpr std::int64_t line = 64;
  constexpr std::int64_t page = 4096;
  const std::int64_t lines = (size + 1 + line - 1) / line * line;
  return lines % page == 0 ? lines + line : lines;
}

inline std::int64_t unequal(const Spin* a, const Spin* b, std::int64_t n) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += (a[i] ^ b[i]) & 1;
  return sum;
}

/// Returns the position of a rank in an ascending list that contains it.
inline std::size_t slot_of(std::span<const Rank> neighbours, Rank rank) {
  return static_cast<std::size_t>(std::ranges::find(neighbours, rank) - neighbours.begin());
}

class Lattice {
 public:
  /// Builds the part. Throws Error invalid_argument for more than max_size columns. neighbours: the slots of
  /// remote sites refer to this list.
  Lattice(const irregular::Stripes& stripes, Rank rank, std::span<const Rank> neighbours)
      : size_(stripes.columns()), stride_(padded(size_)), local_of_(static_cast<std::size_t>(size_), -1) {
    if (size_ > max_size) kit::refuse("a lattice of size {}; at most {}", size_, max_size);
    shift_ = 31U + static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(stride_ - 1)));
    reciprocal_ = ((std::uint64_t{1} << shift_) + static_cast<std::uint64_t>(stride_) - 1) /
                  static_cast<std::uint64_t>(stride_);

    // Computes where every rank stores every column. All ranks compute the same places.
    const auto num_columns = static_cast<std::size_t>(size_);
    std::vector<std::int64_t> memory(num_columns);
    std::vector<std::int64_t> used(static_cast<std::size_t>(stripes.num_ranks()), 0);
    for (std::int64_t c = 0; c < size_; ++c) {
      std::int64_t& next = used[static_cast<std::size_t>(stripes.owner(c))];
      const bool begins = c == 0 || stripes.owner(c) != stripes.owner(c - 1);
      next += begins ? 2 : 1;  // an empty column before a stripe
      memory[static_cast<std::size_t>(c)] = next - 1;
    }
    const std::int64_t memory_columns = used[static_cast<std::size_t>(rank)] + 1;
    cells_.assign(static_cast<std::size_t>(memory_columns * stride_ + 1), 0);
    left_.resize(static_cast<std::size_t>(memory_columns));
    right_.resize(static_cast<std::size_t>(memory_columns));
    for (std::int64_t c = 0; c < size_; ++c) {
      if (stripes.owner(c) != rank) continue;
      const std::int64_t here = memory[static_cast<std::size_t>(c)];
      local_of_[static_cast<std::size_t>(c)] = static_cast<std::int64_t>(column_of_.size());
      column_of_.push_back(c);
      memory_of_.push_back(here);
      const auto beside = [&](std::int64_t other) -> Beside {
        const Rank owner = stripes.owner(other);
        return {owner == rank ? own : slot_of(neighbours, owner),
                word(memory[static_cast<std::size_t>(other)], other)};
      };
      left_[static_cast<std::size_t>(here)] = beside((c + size_ - 1) % size_);
      right_[static_cast<std::size_t>(here)] = beside((c + 1) % size_);
    }
    mark();
  }

  std::int64_t size() const { return size_; }
  std::int64_t num_sites() const { return static_cast<std::int64_t>(column_of_.size()) * size_; }
  /// Returns the global numbers of this rank's columns, ascending.
  std::span<const std::int64_t> columns() const { return column_of_; }

  /// load() copies this rank's columns from the whole lattice; store() copies them into it. Site column * N +
  /// row has the spin at that index.
  void load(std::span<const Spin> whole) {
    for (std::size_t k = 0; k < column_of_.size(); ++k)
      for (std::int64_t row = 0; row < size_; ++row) {
        Spin& cell = cells_[index(memory_of_[k], row)];
        cell = static_cast<Spin>((cell & any_mark) |
                                 whole[static_cast<std::size_t>(column_of_[k] * size_ + row)]);
      }
  }

  void store(std::span<Spin> whole) const {
    for (std::size_t k = 0; k < column_of_.size(); ++k)
      for (std::int64_t row = 0; row < size_; ++row)
        whole[static_cast<std::size_t>(column_of_[k] * size_ + row)] =
            cells_[index(memory_of_[k], row)] & both;
  }

  /// Returns the site's word if the site is this rank's, otherwise 0.
  Word word_of(std::uint64_t site) const {
    const auto column = static_cast<std::int64_t>(site) / size_;
    const std::int64_t k = local_of_[static_cast<std::size_t>(column)];
    if (k < 0) return 0;
    return word(memory_of_[static_cast<std::size_t>(k)], column) +
           one_row * (site - static_cast<std::uint64_t>(column * size_));
  }

  Spin spin(Word word) const { return cells_[static_cast<std::uint32_t>(word)] & both; }

  /// Flips the site and pushes it if it has spin s.
  [[gnu::always_inline]] Word* try_site(Word word, Spin s, Word* top) {
    Spin& cell = cells_[static_cast<std::uint32_t>(word)];
    const bool joins = (cell & s) != 0;
    *top = word;
    cell ^= joins ? both : 0;
    return top + static_cast<int>(joins);
  }

  /// Does the same for many words, after removing the bits `clear` from each.
  [[gnu::always_inline]] Word* try_sites(std::span<const Word> words, Word clear, Spin s, Word* top) {
    Spin* const cells = cells_.data();
    for (const Word word : words) {
      const Word site = word & ~clear;
      Spin& cell = cells[static_cast<std::uint32_t>(site)];
      const bool joins = (cell & s) != 0;
      *top = site;
      top += static_cast<int>(joins);  // a branch would be unpredictable
      cell = static_cast<Spin>(cell ^ (joins ? both : 0));
    }
    return top;
  }

  /// Tries the bonds of words[0 .. n), n <= batch. These are cluster sites that are flipped already. If a
  /// neighbour has spin s and its bond's number is below the threshold, the neighbour is flipped and pushed.
  /// The stack must have room for four words per site. For neighbours on other ranks it calls emit(slot, word
  /// there). Returns the new top. words may lie on that stack.
  template <typename Emit>
  Word* expand(const Word* words, int n, Spin s, const Numbers& numbers, std::uint64_t threshold, Word* top,
               Emit&& emit);

  /// Returns the magnetisation of this rank's sites.
  std::int64_t magnetisation() const {
    std::int64_t ones = 0;
    for (const std::int64_t column : column_of_)
      for (const Spin cell : cells_of(column)) ones += cell & 1;
    return 2 * ones - num_sites();
  }

  /// Returns the number of bonds between equal spins minus that between different spins. Counts the bonds of
  /// this rank's sites with the sites below, and with the sites to the right that are this rank's too.
  std::int64_t bonds() const {
    std::int64_t different = 0;
    std::int64_t all = 0;
    for (const std::int64_t column : column_of_) {
      const Spin* const cells = cells_of(column).data();
      different += unequal(cells, cells + 1, size_ - 1) + unequal(cells + size_ - 1, cells, 1);
      all += size_;
      const std::int64_t to_the_right = (column + 1) % size_;
      if (local_of_[static_cast<std::size_t>(to_the_right)] < 0) continue;
      different += unequal(cells, cells_of(to_the_right).data(), size_);
      all += size_;
    }
    return all - 2 * different;
  }

  /// Returns the bonds of a column with another rank's column to its right.
  std::int64_t bonds_with(std::int64_t column, std::span<const Spin> beyond) const {
    return size_ - 2 * unequal(cells_of(column).data(), beyond.data(), size_);
  }

  /// Returns the cells of a column. The marks of edges are in the higher bits.
  std::span<const Spin> cells_of(std::int64_t column) const {
    const std::int64_t k = local_of_[static_cast<std::size_t>(column)];
    return {&cells_[index(memory_of_[static_cast<std::size_t>(k)], 0)], static_cast<std::size_t>(size_)};
  }

 private:
  static constexpr Spin both = 3;
  enum Mark : Spin { first_row = 4, last_row = 8, first_column = 16, last_column = 32 };
  static constexpr Spin any_mark = first_row | last_row | first_column | last_column;
  static constexpr std::size_t own = SIZE_MAX;
  static constexpr Word one_row = (Word{1} << 32) | 1;

  /// The column next to an outer column of a stripe, by the position of its row 0.
  struct Beside {
    std::size_t slot = own;
    Word first = 0;
  };

  std::uint32_t index(std::int64_t memory_column, std::int64_t row) const {
    return static_cast<std::uint32_t>(memory_column * stride_ + 1 + row);
  }
  Word word(std::int64_t memory_column, std::int64_t column) const {
    return (static_cast<Word>(column * size_) << 32) | index(memory_column, 0);
  }
  std::uint32_t memory_column(std::uint32_t cell) const {
    return static_cast<std::uint32_t>((cell * reciprocal_) >> shift_);
  }

  // Marks edges. A column is a stripe's first if the cell to its left is not its left neighbour.
  void mark() {
    for (std::size_t k = 0; k < column_of_.size(); ++k) {
      const std::int64_t m = memory_of_[k];
      Spin sides = 0;
      if (k == 0 || memory_of_[k - 1] != m - 1) sides |= first_column;
      if (k + 1 == column_of_.size() || memory_of_[k + 1] != m + 1) sides |= last_column;
      for (std::int64_t row = 0; row < size_; ++row) cells_[index(m, row)] = 1 | sides;
      cells_[index(m, 0)] |= first_row;
      cells_[index(m, size_ - 1)] |= last_row;
    }
  }

  template <typename Emit>
  Word* expand_edge(Word word, int i, Spin s, const Numbers& numbers, std::uint64_t threshold, Word* top,
                    Emit&& emit);

  std::int64_t size_;
  std::int64_t stride_;
  std::uint64_t reciprocal_;  // of stride_, exact for all cells
  unsigned shift_;
  std::vector<std::int64_t> column_of_;  // by local column
  std::vector<std::int64_t> memory_of_;  // by local column: its position among columns and empty columns
  std::vector<std::int64_t> local_of_;   // by global column: -1 for other ranks' columns
  std::vector<Beside> left_, right_;     // by memory column
  std::vector<Spin> cells_;
};

template <typename Emit>
Word* Lattice::expand(const Word* words, int n, Spin s, const Numbers& numbers, std::uint64_t threshold,
                      Word* top, Emit&& emit) {
  const auto column = static_cast<Word>(stride_);
  const std::array<Word, 4> step = {0 - one_row, one_row, 0 - ((static_cast<Word>(size_) << 32) + column),
                                    (static_cast<Word>(size_) << 32) + column};
  Word edges[batch];  // upper half: position in the batch; lower half: cell
  int num_edges = 0;
  Spin* const cells = cells_.data();
  std::array<Word, batch> from;
  std::copy_n(words, n, from.begin());
  for (int i = 0; i < n; ++i) {
    const Word word = from[static_cast<std::size_t>(i)];
    edges[num_edges] = static_cast<Word>(i);
    num_edges += static_cast<int>((cells[static_cast<std::uint32_t>(word)] & any_mark) != 0);
#pragma GCC unroll 4
    for (int d = 0; d < 4; ++d) {
      const Word next = word + step[static_cast<std::size_t>(d)];
      Spin& cell = cells[static_cast<std::uint32_t>(next)];
      const Spin value = cell;
      const bool joins = ((value & s) != 0) & (numbers.of[d][i] < threshold);
      *top = next;
      top += static_cast<int>(joins);  // a branch would be unpredictable
      cell = static_cast<Spin>(value ^ (joins ? both : 0));
    }
  }
  for (int e = 0; e < num_edges; ++e) {
    const auto i = static_cast<int>(edges[e]);
    top = expand_edge(from[static_cast<std::size_t>(i)], i, s, numbers, threshold, top, emit);
  }
  return top;
}

template <typename Emit>
Word* Lattice::expand_edge(Word word, int i, Spin s, const Numbers& numbers, std::uint64_t threshold,
                           Word* top, Emit&& emit) {
  const auto cell = static_cast<std::uint32_t>(word);
  const Spin marks = cells_[cell];
  const Word whole_column = one_row * static_cast<Word>(size_ - 1);
  if ((marks & first_row) != 0 && numbers.of[up][i] < threshold) top = try_site(word + whole_column, s, top);
  if ((marks & last_row) != 0 && numbers.of[down][i] < threshold) top = try_site(word - whole_column, s, top);
  if ((marks & (first_column | last_column)) == 0) return top;
  const std::uint32_t column = memory_column(cell);
  const Word row = cell - column * static_cast<std::uint32_t>(stride_) - 1;
  const auto cross = [&](const Beside& beside) {
    const Word there = beside.first + one_row * row;
    if (beside.slot == own) {
      top = try_site(there, s, top);
    } else {
      emit(beside.slot, there);
    }
  };
  if ((marks & first_column) != 0 && numbers.of[left][i] < threshold) cross(left_[column]);
  if ((marks & last_column) != 0 && numbers.of[right][i] < threshold) cross(right_[column]);
  return top;
}

}  // namespace nuice::wolff
