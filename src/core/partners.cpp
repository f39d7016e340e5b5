// SPDX-License-Identifier: BSD-3-Clause
#include "core/partners.hpp"

#include <algorithm>
#include <vector>

namespace nuice::core {

void check_listed_partners(const Side& side, Rank num_ranks, std::span<const Partner> partners) {
  const auto fail = [&](ErrorCode code, Rank partner, const std::string& what) {
    throw Error(code, side.pair_with(partner) + ": " + what);
  };
  for (const auto& [rank, bytes] : partners) {
    if (rank < 0 || rank >= num_ranks)
      fail(ErrorCode::invalid_argument, rank, "there are " + std::to_string(num_ranks) + " ranks");
    if (bytes < 0) fail(ErrorCode::invalid_argument, rank, "the size is negative: " + std::to_string(bytes));
    if (bytes > max_bytes)
      fail(ErrorCode::limit, rank,
           std::to_string(bytes) + " bytes are more than max_bytes = " + std::to_string(max_bytes));
  }
}

void check_partners(const Side& side, Rank num_ranks, std::span<const Partner> partners) {
  check_listed_partners(side, num_ranks, partners);
  std::vector<Rank> seen;
  seen.reserve(partners.size());
  for (const Partner& partner : partners) seen.push_back(partner.rank);
  std::ranges::sort(seen);
  if (const auto twice = std::ranges::adjacent_find(seen); twice != seen.end())
    throw Error(
        ErrorCode::invalid_argument,
        side.pair_with(*twice) + ": given twice; make one message of both, or use a Plan, which takes both");
}

}  // namespace nuice::core
