// SPDX-License-Identifier: BSD-3-Clause
// The synthetic test sets of the papers.
#include <algorithm>
#include <string>
#include <vector>

#include "core/support/most_ranks.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/patterns.hpp"
#include "nuice/core/random.hpp"

namespace nuice {
namespace {

void check_arguments(Rank num_ranks, MessageSizes sizes) {
  if (num_ranks < 1) {
    throw Error(ErrorCode::invalid_argument, "number of ranks " + std::to_string(num_ranks) + ": at least 1");
  }
  core::require_at_most_max_ranks(num_ranks);
  if (sizes.unit_bytes < 1 || sizes.max_units < 1) {
    throw Error(ErrorCode::invalid_argument, "message sizes: unit and largest multiple must be at least 1");
  }
  if (sizes.unit_bytes > max_bytes / sizes.max_units) {
    throw Error(ErrorCode::limit, "message sizes: unit times largest multiple is more than 2^62 bytes");
  }
}

Bytes draw_size(MessageSizes sizes, Random& random) {
  return sizes.unit_bytes * static_cast<Bytes>(1 + random.below(static_cast<std::uint64_t>(sizes.max_units)));
}

std::vector<Rank> random_permutation(Rank count, Random& random) {
  std::vector<Rank> permutation(static_cast<std::size_t>(count));
  for (Rank i = 0; i < count; ++i) permutation[static_cast<std::size_t>(i)] = i;
  random.shuffle(std::span(permutation));
  return permutation;
}

/// The permuted band matrix of 003 fig. 7, row by row.
class RegularRows {
 public:
  RegularRows(Rank num_ranks, Rank degree, Random& random) : rows_(static_cast<std::size_t>(num_ranks)) {
    const std::vector<Rank> row_at = random_permutation(num_ranks, random);
    const std::vector<Rank> column_at = random_permutation(num_ranks, random);
    for (Rank place = 0; place < num_ranks; ++place) {
      std::vector<Rank>& row = rows_[static_cast<std::size_t>(row_at[static_cast<std::size_t>(place)])];
      row.reserve(static_cast<std::size_t>(degree));
      for (Rank k = 0; k < degree; ++k)
        row.push_back(column_at[static_cast<std::size_t>((place + k) % num_ranks)]);
      std::ranges::sort(row);
    }
  }

  /// Removes every entry (i, i). Replaces it and some entry (r, c) by (i, c) and (r, i), which keeps all row
  /// and column sums.
  void clear_diagonal(Random& random) {
    for (Rank i = 0; i < num_ranks(); ++i) {
      if (has(i, i)) exchange_diagonal_entry(i, random);
    }
  }
  const std::vector<Rank>& row(Rank src) const { return rows_[static_cast<std::size_t>(src)]; }

 private:
  Rank num_ranks() const { return static_cast<Rank>(rows_.size()); }
  bool has(Rank r, Rank c) const { return std::ranges::binary_search(row(r), c); }

  /// Tries rows, beginning with a random row. A suitable row exists because degree < n: row i lacks some
  /// column c; column c has `degree` entries, but column i has only degree - 1 outside row i. So some row has
  /// c and lacks i.
  void exchange_diagonal_entry(Rank i, Random& random) {
    const Rank first = static_cast<Rank>(random.below(rows_.size()));
    for (Rank step = 0; step < num_ranks(); ++step) {
      const Rank r = (first + step) % num_ranks();
      if (r == i || has(r, i)) continue;
      for (const Rank c : row(r)) {
        if (has(i, c)) continue;
        replace(i, i, c);
        replace(r, c, i);
        return;
      }
    }
  }
  void replace(Rank r, Rank from, Rank to) {
    std::vector<Rank>& row = rows_[static_cast<std::size_t>(r)];
    row.erase(std::ranges::lower_bound(row, from));
    row.insert(std::ranges::lower_bound(row, to), to);
  }

  std::vector<std::vector<Rank>> rows_;  // columns of each row, ascending
};

}  // namespace

CommMatrix random_regular(Rank num_ranks, Rank degree, MessageSizes sizes, std::uint64_t seed) {
  check_arguments(num_ranks, sizes);
  if (degree < 0 || degree >= num_ranks) {
    throw Error(ErrorCode::invalid_argument, "degree " + std::to_string(degree) + ": from 0 to " +
                                                 std::to_string(num_ranks - 1) + " for " +
                                                 std::to_string(num_ranks) + " ranks");
  }
  Random random(seed);
  RegularRows rows(num_ranks, degree, random);
  rows.clear_diagonal(random);
  std::vector<Message> messages;
  messages.reserve(static_cast<std::size_t>(num_ranks) * static_cast<std::size_t>(degree));
  for (Rank src = 0; src < num_ranks; ++src) {
    for (const Rank dst : rows.row(src)) messages.push_back({src, dst, draw_size(sizes, random)});
  }
  return CommMatrix::from_messages(num_ranks, messages);
}

CommMatrix random_density(Rank num_ranks, double density, MessageSizes sizes, std::uint64_t seed) {
  check_arguments(num_ranks, sizes);
  const bool is_share = density >= 0 && density <= 1;  // false for NaN too
  if (!is_share) {
    throw Error(ErrorCode::invalid_argument, "density " + std::to_string(density) + ": from 0 to 1");
  }
  Random random(seed);
  std::vector<Message> messages;
  for (Rank src = 0; src < num_ranks; ++src) {
    for (Rank dst = 0; dst < num_ranks; ++dst) {
      if (src != dst && random.unit() < density) messages.push_back({src, dst, draw_size(sizes, random)});
    }
  }
  return CommMatrix::from_messages(num_ranks, messages);
}

}  // namespace nuice
