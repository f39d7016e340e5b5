// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/rows.hpp"

#include <numeric>

namespace nuice::distributed {

Rows cut_rows(const Rows& rows, const Cut& cut) {
  Rows all;
  all.begin = {0};
  for (std::size_t rank = 0; rank + 1 < rows.begin.size(); ++rank) {
    const std::size_t at = rows.begin[rank];
    const std::size_t count = rows.begin[rank + 1] - at;
    const CutMessages pieces = cut_messages(std::span(rows.partners).subspan(at, count),
                                            std::span(rows.bytes).subspan(at, count), cut);
    all.partners.insert(all.partners.end(), pieces.partners.begin(), pieces.partners.end());
    all.bytes.insert(all.bytes.end(), pieces.bytes.begin(), pieces.bytes.end());
    all.begin.push_back(all.partners.size());
  }
  all.colours.assign(all.partners.size(), no_colour);
  return all;
}

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
