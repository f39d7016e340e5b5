// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/rows.hpp"

#include <numeric>

namespace nuice::distributed {

Rows transposed(const Rows& rows) {
  const Rank num_ranks = rows.num_ranks();
  Rows other;
  other.begin.assign(rows.begin.size(), 0);
  for (const Rank dst : rows.partners) ++other.begin[static_cast<std::size_t>(dst) + 1];
  std::partial_sum(other.begin.begin(), other.begin.end(), other.begin.begin());
  other.partners.resize(rows.size());
  other.bytes.resize(rows.size());
  other.colours.resize(rows.size());
  std::vector<std::uint64_t> next(other.begin.begin(), other.begin.end() - 1);
  for (Rank src = 0; src < num_ranks; ++src)
    for (std::uint64_t i = rows.begin[static_cast<std::size_t>(src)];
         i < rows.begin[static_cast<std::size_t>(src) + 1]; ++i) {
      const std::uint64_t at = next[static_cast<std::size_t>(rows.partners[i])]++;
      other.partners[at] = src;
      other.bytes[at] = rows.bytes[i];
      other.colours[at] = rows.colours[i];
    }
  return other;
}

}  // namespace nuice::distributed
