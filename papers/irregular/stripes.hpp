// SPDX-License-Identifier: BSD-3-Clause
// Deals columns of a grid to ranks cyclically, in stripes of equal width (002 fig. 10, for any numbers).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/errors.hpp"
#include "nuice/core/types.hpp"

namespace nuice::irregular {

/// One or more adjacent columns of one rank.
struct Stripe {
  std::int64_t begin = 0;  ///< Global columns [begin, end).
  std::int64_t end = 0;
};

class Stripes {
 public:
  /// Divides the columns into stripes. The last stripe may be narrower. Throws Error `invalid_argument` for
  /// fewer columns than ranks, or width < 1.
  Stripes(std::int64_t columns, std::int64_t width, Rank num_ranks) : width_(width), num_ranks_(num_ranks) {
    if (width < 1) kit::refuse("stripes of width {}; at least 1 is needed", width);
    if (columns < num_ranks) kit::refuse("{} columns for {} ranks", columns, num_ranks);
    for (std::int64_t column = 0; column < columns; ++column)
      owner_.push_back(static_cast<Rank>(column / width % num_ranks));
  }

  std::int64_t columns() const { return static_cast<std::int64_t>(owner_.size()); }
  Rank num_ranks() const { return num_ranks_; }

  /// Returns the rank that owns a column.
  Rank owner(std::int64_t column) const { return owner_[static_cast<std::size_t>(column)]; }

  /// Returns the stripes of a rank in ascending order. If there are fewer stripes than ranks, some ranks have
  /// none.
  std::vector<Stripe> of(Rank rank) const {
    std::vector<Stripe> result;
    for (std::int64_t begin = 0; begin < columns(); begin += std::min(width_, columns() - begin))
      if (owner(begin) == rank) result.push_back({begin, begin + std::min(width_, columns() - begin)});
    return result;
  }

  /// Returns the other ranks that own a column next to one of this rank's columns, in ascending order.
  /// periodic: the first column is next to the last. These ranks are rank - 1 and rank + 1 (cyclically), and
  /// sometimes also the owners of the first and the last stripe.
  std::vector<Rank> neighbours(Rank rank, bool periodic) const {
    std::vector<Rank> result;
    const auto add = [&](std::int64_t column) {
      if (owner(column) != rank) result.push_back(owner(column));
    };
    for (const Stripe& stripe : of(rank)) {
      if (periodic || stripe.begin > 0) add((stripe.begin + columns() - 1) % columns());
      if (periodic || stripe.end < columns()) add(stripe.end % columns());
    }
    std::ranges::sort(result);
    const auto [first, last] = std::ranges::unique(result);
    result.erase(first, last);
    return result;
  }

 private:
  std::int64_t width_;
  Rank num_ranks_;
  std::vector<Rank> owner_;
};

}  // namespace nuice::irregular
