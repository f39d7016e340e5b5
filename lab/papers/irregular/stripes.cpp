// SPDX-License-Identifier: BSD-3-Clause
#include "irregular/stripes.hpp"

#include <algorithm>
#include <string>

#include "nuice/core/error.hpp"

namespace nuice::irregular {

Stripes::Stripes(std::int64_t columns, std::int64_t width, Rank num_ranks)
    : width_(width), num_ranks_(num_ranks) {
  if (width < 1)
    throw Error(ErrorCode::invalid_argument,
                "stripes of width " + std::to_string(width) + "; at least 1 is needed");
  if (columns < num_ranks)
    throw Error(ErrorCode::invalid_argument,
                std::to_string(columns) + " columns for " + std::to_string(num_ranks) + " ranks");
  for (std::int64_t column = 0; column < columns; ++column)
    owner_.push_back(static_cast<Rank>(column / width % num_ranks));
}

std::vector<Stripe> Stripes::of(Rank rank) const {
  std::vector<Stripe> result;
  for (std::int64_t begin = 0; begin < columns(); begin += std::min(width_, columns() - begin))
    if (owner(begin) == rank) result.push_back({begin, begin + std::min(width_, columns() - begin)});
  return result;
}

std::vector<Rank> Stripes::neighbours(Rank rank, bool periodic) const {
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

}  // namespace nuice::irregular
