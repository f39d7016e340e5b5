// SPDX-License-Identifier: BSD-3-Clause
// Columns of a grid dealt to ranks in stripes of equal width, cyclically (002 fig. 10, for any numbers).
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::irregular {

/// One or more neighbouring columns, all of one rank.
struct Stripe {
  std::int64_t begin = 0;  ///< Global columns [begin, end).
  std::int64_t end = 0;
};

class Stripes {
 public:
  /// The last stripe may be narrower. Throws Error invalid_argument for fewer columns than ranks, or width < 1.
  Stripes(std::int64_t columns, std::int64_t width, Rank num_ranks);

  std::int64_t columns() const { return static_cast<std::int64_t>(owner_.size()); }
  Rank num_ranks() const { return num_ranks_; }

  /// Who has a column.
  Rank owner(std::int64_t column) const { return owner_[static_cast<std::size_t>(column)]; }

  /// Of a rank, in ascending order. Empty where there are fewer stripes than ranks.
  std::vector<Stripe> of(Rank rank) const;

  /// Other ranks that have a column beside one of this rank's, ascending; periodic: the first beside the last. Beyond
  /// rank - 1 and rank + 1 (cyclically) that can be those of the first and the last stripe.
  std::vector<Rank> neighbours(Rank rank, bool periodic) const;

 private:
  std::int64_t width_;
  Rank num_ranks_;
  std::vector<Rank> owner_;
};

}  // namespace nuice::irregular
