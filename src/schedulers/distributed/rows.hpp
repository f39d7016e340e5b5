// SPDX-License-Identifier: BSD-3-Clause
// What all ranks send and receive, in flat arrays: 28 bytes a message, so that 67 million fit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/distributed/side.hpp"

namespace nuice::distributed {

/// One side of all ranks: what each sends, or what each receives.
struct Rows {
  std::vector<std::uint64_t> begin;  // num_ranks + 1
  std::vector<Rank> partners;        // ascending in each row
  std::vector<Bytes> bytes;
  std::vector<Colour> colours;

  Rank num_ranks() const { return static_cast<Rank>(begin.size()) - 1; }
  std::uint64_t size() const { return begin.back(); }
  std::size_t degree(Rank rank) const {
    return begin[static_cast<std::size_t>(rank) + 1] - begin[static_cast<std::size_t>(rank)];
  }
  Side side(Rank rank) {
    const std::size_t at = begin[static_cast<std::size_t>(rank)];
    const std::size_t count = degree(rank);
    return {rank, std::span(partners).subspan(at, count), std::span(bytes).subspan(at, count),
            std::span(colours).subspan(at, count)};
  }
};

/// By receiver what `rows` has by sender. O(messages).
Rows transposed(const Rows& rows);

}  // namespace nuice::distributed
