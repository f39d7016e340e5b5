// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a periodic N x N Ising lattice, and the inner loop of all programs here: the sites that a batch of
// cluster sites brings in.
//
// Columns lie one behind the other, a byte for a site, with empty cells (0: of neither spin, so never brought in)
// before and behind each column and between stripes. A site whose neighbour lies elsewhere (another stripe, the other end
// of its column) has a mark; the loop sees to it after the others. So there is no division, no look at owners and
// no unpredictable branch for a site that is not on an edge.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "irregular/stripes.hpp"
#include "wolff/random.hpp"

namespace nuice::wolff {

using Spin = std::uint8_t;  ///< 1 or 2.

inline constexpr std::int64_t max_size = 32768;

class Lattice {
 public:
  /// Throws Error invalid_argument for more than max_size columns. neighbours: slots of remote sites refer to it.
  Lattice(const irregular::Stripes& stripes, Rank rank, std::span<const Rank> neighbours);

  std::int64_t size() const { return size_; }
  std::int64_t num_sites() const { return static_cast<std::int64_t>(column_of_.size()) * size_; }
  /// Global numbers of this rank's columns, ascending.
  std::span<const std::int64_t> columns() const { return column_of_; }

  /// Takes this rank's columns from, or puts them into, the whole lattice: spin of site column * N + row.
  void load(std::span<const Spin> whole);
  void store(std::span<Spin> whole) const;

  /// The site's word if it is this rank's. 0 otherwise.
  Word word_of(std::uint64_t site) const;
  Spin spin(Word word) const { return cells_[static_cast<std::uint32_t>(word)] & both; }

  /// If the site has spin s: flips it and puts it on top.
  [[gnu::always_inline]] Word* try_site(Word word, Spin s, Word* top) {
    Spin& cell = cells_[static_cast<std::uint32_t>(word)];
    const bool joins = (cell & s) != 0;
    *top = word;
    cell ^= joins ? both : 0;
    return top + static_cast<int>(joins);
  }

  /// The same for many, each with what `clear` removes.
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

  /// Tries the bonds of words[0 .. n), n <= batch, sites of the cluster that are flipped already. Neighbours of spin s
  /// with a number below the threshold are flipped and put on top of the stack (which must have room for four words a
  /// site); those of other ranks go to emit(slot, word there). Returns the new top. words may lie on that stack.
  template <typename Emit>
  Word* expand(const Word* words, int n, Spin s, const Numbers& numbers, std::uint64_t threshold, Word* top,
               Emit&& emit);

  std::int64_t magnetisation() const;  ///< Of this rank's sites.
  /// Bonds between equal spins less those between different ones, of this rank's sites with the sites below and to the
  /// right, the latter only if they are this rank's too.
  std::int64_t bonds() const;
  /// The rest: those of a column with the one to its right.
  std::int64_t bonds_with(std::int64_t column, std::span<const Spin> beyond) const;
  /// Of a column; the marks of edges are in the higher bits.
  std::span<const Spin> cells_of(std::int64_t column) const;

 private:
  static constexpr Spin both = 3;
  enum Mark : Spin { first_row = 4, last_row = 8, first_column = 16, last_column = 32 };
  static constexpr Spin any_mark = first_row | last_row | first_column | last_column;
  static constexpr std::size_t own = SIZE_MAX;
  static constexpr Word one_row = (Word{1} << 32) | 1;

  /// The column beside an outer column of a stripe: where its row 0 is.
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
  void mark();
  template <typename Emit>
  Word* expand_edge(Word word, int i, Spin s, const Numbers& numbers, std::uint64_t threshold, Word* top,
                    Emit&& emit);

  std::int64_t size_;
  std::int64_t stride_;
  std::uint64_t reciprocal_;  // of stride_, exact for all cells
  unsigned shift_;
  std::vector<std::int64_t> column_of_;  // by local column
  std::vector<std::int64_t> memory_of_;  // by local column: its place among columns and empty ones
  std::vector<std::int64_t> local_of_;   // by global column: -1 for those of others
  std::vector<Beside> left_, right_;     // by memory column
  std::vector<Spin> cells_;
};

template <typename Emit>
Word* Lattice::expand(const Word* words, int n, Spin s, const Numbers& numbers, std::uint64_t threshold,
                      Word* top, Emit&& emit) {
  const auto column = static_cast<Word>(stride_);
  const std::array<Word, 4> step = {0 - one_row, one_row, 0 - ((static_cast<Word>(size_) << 32) + column),
                                    (static_cast<Word>(size_) << 32) + column};
  Word edges[batch];  // position in the batch above, cell below
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
