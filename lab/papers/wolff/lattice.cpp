// SPDX-License-Identifier: BSD-3-Clause
#include "wolff/lattice.hpp"

#include <bit>
#include <cstddef>
#include <string>

#include "nuice/core/error.hpp"

namespace nuice::wolff {
namespace {

constexpr std::int64_t line = 64;
constexpr std::int64_t page = 4096;

/// Room for a column and the empty cell before it, in whole lines of the cache, and such that the same row of many
/// neighbouring columns falls into different sets of it.
std::int64_t padded(std::int64_t size) {
  const std::int64_t lines = (size + 1 + line - 1) / line * line;
  return lines % page == 0 ? lines + line : lines;
}

std::int64_t unequal(const Spin* a, const Spin* b, std::int64_t n) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += (a[i] ^ b[i]) & 1;
  return sum;
}

/// Position in an ascending list that holds it.
std::size_t slot_of(std::span<const Rank> neighbours, Rank rank) {
  return static_cast<std::size_t>(std::ranges::find(neighbours, rank) - neighbours.begin());
}

}  // namespace

Lattice::Lattice(const irregular::Stripes& stripes, Rank rank, std::span<const Rank> neighbours)
    : size_(stripes.columns()), stride_(padded(size_)), local_of_(static_cast<std::size_t>(size_), -1) {
  if (size_ > max_size)
    throw Error(ErrorCode::invalid_argument,
                "a lattice of size " + std::to_string(size_) + "; at most " + std::to_string(max_size));
  shift_ = 31U + static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(stride_ - 1)));
  reciprocal_ = ((std::uint64_t{1} << shift_) + static_cast<std::uint64_t>(stride_) - 1) /
                static_cast<std::uint64_t>(stride_);

  // Where every rank has every column: all ranks lay out alike.
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

// A column is a stripe's first where the cell to its left is not its left neighbour.
void Lattice::mark() {
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

void Lattice::load(std::span<const Spin> whole) {
  for (std::size_t k = 0; k < column_of_.size(); ++k)
    for (std::int64_t row = 0; row < size_; ++row) {
      Spin& cell = cells_[index(memory_of_[k], row)];
      cell =
          static_cast<Spin>((cell & any_mark) | whole[static_cast<std::size_t>(column_of_[k] * size_ + row)]);
    }
}

void Lattice::store(std::span<Spin> whole) const {
  for (std::size_t k = 0; k < column_of_.size(); ++k)
    for (std::int64_t row = 0; row < size_; ++row)
      whole[static_cast<std::size_t>(column_of_[k] * size_ + row)] = cells_[index(memory_of_[k], row)] & both;
}

Word Lattice::word_of(std::uint64_t site) const {
  const auto column = static_cast<std::int64_t>(site) / size_;
  const std::int64_t k = local_of_[static_cast<std::size_t>(column)];
  if (k < 0) return 0;
  return word(memory_of_[static_cast<std::size_t>(k)], column) +
         one_row * (site - static_cast<std::uint64_t>(column * size_));
}

std::span<const Spin> Lattice::cells_of(std::int64_t column) const {
  const std::int64_t k = local_of_[static_cast<std::size_t>(column)];
  return {&cells_[index(memory_of_[static_cast<std::size_t>(k)], 0)], static_cast<std::size_t>(size_)};
}

std::int64_t Lattice::magnetisation() const {
  std::int64_t ones = 0;
  for (const std::int64_t column : column_of_)
    for (const Spin cell : cells_of(column)) ones += cell & 1;
  return 2 * ones - num_sites();
}

std::int64_t Lattice::bonds() const {
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

std::int64_t Lattice::bonds_with(std::int64_t column, std::span<const Spin> beyond) const {
  return size_ - 2 * unequal(cells_of(column).data(), beyond.data(), size_);
}

}  // namespace nuice::wolff
