// SPDX-License-Identifier: BSD-3-Clause
#include "support/scale/changes.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace nuice::scale {
namespace {

/// Rows in which partners can be replaced one by one. A changed row is ascending again only after sort().
class Changing {
 public:
  explicit Changing(Rows& rows) : rows_(rows) {}

  Rank sender_of(std::uint64_t message) const {
    const auto after = std::ranges::upper_bound(rows_.begin, message);
    return static_cast<Rank>(after - rows_.begin.begin()) - 1;
  }
  bool has(Rank src, Rank dst) const {
    const auto row = std::span(rows_.partners).subspan(rows_.begin[index(src)], rows_.degree(src));
    return std::ranges::find(row, dst) != row.end();
  }
  bool is_new(std::uint64_t message) const { return rows_.colours[message] == distributed::no_colour; }
  void set(std::uint64_t message, Rank dst) {
    rows_.partners[message] = dst;
    rows_.colours[message] = distributed::no_colour;
  }
  void sort() {
    std::vector<std::uint64_t> order;
    for (Rank rank = 0; rank < rows_.num_ranks(); ++rank) {
      const std::uint64_t at = rows_.begin[index(rank)];
      order.resize(rows_.degree(rank));
      std::iota(order.begin(), order.end(), at);
      std::ranges::sort(order, {}, [&](std::uint64_t i) { return rows_.partners[i]; });
      apply(order, at, rows_.partners);
      apply(order, at, rows_.bytes);
      apply(order, at, rows_.colours);
    }
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  template <typename T>
  static void apply(const std::vector<std::uint64_t>& order, std::uint64_t at, std::vector<T>& values) {
    std::vector<T> sorted;
    for (const std::uint64_t i : order) sorted.push_back(values[i]);
    std::ranges::copy(sorted, values.begin() + static_cast<std::ptrdiff_t>(at));
  }

  Rows& rows_;
};

}  // namespace

std::uint64_t exchange_partners(Rows& sends, double share, Random& random) {
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(sends.size()));
  Changing rows(sends);
  std::uint64_t changed = 0;
  constexpr std::uint64_t tries_for_each = 20;
  for (std::uint64_t tries = 0; changed + 1 < wanted && tries < tries_for_each * wanted; ++tries) {
    const std::uint64_t first = random.below(sends.size());
    const std::uint64_t second = random.below(sends.size());
    const Rank a = rows.sender_of(first);
    const Rank b = sends.partners[first];
    const Rank c = rows.sender_of(second);
    const Rank d = sends.partners[second];
    const bool fits = a != c && b != d && a != d && c != b && !rows.is_new(first) && !rows.is_new(second) &&
                      !rows.has(a, d) && !rows.has(c, b);
    if (!fits) continue;
    rows.set(first, d);
    rows.set(second, b);
    changed += 2;
  }
  rows.sort();
  return changed;
}

}  // namespace nuice::scale
