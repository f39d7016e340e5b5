// SPDX-License-Identifier: BSD-3-Clause
// The messages of all ranks in flat arrays of 28 bytes per message, so that 67 million messages fit into
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/distributed/cut.hpp"
#include "schedulers/distributed/side.hpp"

namespace nuice::distributed {

/// One direction for all ranks: what each rank sends, or what each rank receives.
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

/// Returns the pieces of all messages; none has a colour. O(pieces).
Rows cut_rows(const Rows& rows, const Cut& cut);

/// `rows` lists messages by sender; returns the same messages by receiver. O(messages).
Rows transposed(const Rows& rows);

}  // namespace nuice::distributed
