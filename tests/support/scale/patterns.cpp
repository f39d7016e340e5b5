// SPDX-License-Identifier: BSD-3-Clause
#include "support/scale/patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "core/support/most_ranks.hpp"
#include "core/support/table.hpp"
#include "nuice/core/error.hpp"

namespace nuice::scale {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

/// Makes rows in which every rank sends and receives `degree` messages: the union of `degree` random
/// permutations. Duplicates, and messages of a rank to itself, are removed by swapping entries. If no swap is
/// found (with degrees close to the number of ranks), an entry is left out.
void random_rows(Rank num_ranks, Rank degree, Random& random, Rows& rows) {
  if (degree >= num_ranks) refuse("degree " + std::to_string(degree) + ": less than the number of ranks");
  const std::size_t d = index(degree);
  std::vector<Rank> targets(index(num_ranks) * d);
  std::vector<Rank> permutation(index(num_ranks));
  std::iota(permutation.begin(), permutation.end(), 0);
  const auto is_bad = [&](Rank src, std::size_t k) {
    const std::span earlier = std::span(targets).subspan(index(src) * d, k);
    const Rank dst = permutation[index(src)];
    return dst == src || std::ranges::find(earlier, dst) != earlier.end();
  };
  for (std::size_t k = 0; k < d; ++k) {
    random.shuffle(std::span(permutation));
    bool is_good = false;
    for (int tries = 0; tries < 100 && !is_good; ++tries) {
      is_good = true;
      for (Rank src = 0; src < num_ranks; ++src)
        if (is_bad(src, k)) {
          is_good = false;
          std::swap(permutation[index(src)], permutation[random.below(permutation.size())]);
        }
    }
    for (Rank src = 0; src < num_ranks; ++src) targets[index(src) * d + k] = permutation[index(src)];
  }
  rows.partners.reserve(targets.size());
  rows.begin = {0};
  for (Rank src = 0; src < num_ranks; ++src) {
    const auto row = std::span(targets).subspan(index(src) * d, d);
    std::ranges::sort(row);
    const auto end = std::ranges::unique(row).begin();
    std::copy_if(row.begin(), end, std::back_inserter(rows.partners), [&](Rank dst) { return dst != src; });
    rows.begin.push_back(rows.partners.size());
  }
}

/// Boxes of ranks in two or three dimensions. The last layer may be incomplete.
class Box {
 public:
  Box(Rank num_ranks, int dimensions) : num_ranks_(num_ranks), dimensions_(dimensions) {
    width_ = static_cast<Rank>(std::ceil(std::pow(num_ranks, 1.0 / dimensions) - 1e-9));
  }
  Rank width() const { return width_; }

  /// Calls call() with every rank that is at most `reach` away in each dimension, ascending.
  template <typename Call>
  void neighbours(Rank rank, Rank reach, Call&& call) const {
    const Rank x = rank % width_;
    const Rank y = dimensions_ == 2 ? rank / width_ : rank / width_ % width_;
    const Rank z = dimensions_ == 2 ? 0 : rank / width_ / width_;
    const Rank deep = dimensions_ == 2 ? 0 : reach;
    const Rank height = dimensions_ == 2 ? num_ranks_ / width_ + 1 : width_;
    for (Rank c = std::max(0, z - deep); c <= z + deep; ++c)
      for (Rank b = std::max(0, y - reach); b <= std::min(height - 1, y + reach); ++b)
        for (Rank a = std::max(0, x - reach); a <= std::min(width_ - 1, x + reach); ++a) {
          const std::int64_t other = a + std::int64_t{width_} * (b + std::int64_t{width_} * c);
          if (other < num_ranks_ && other != rank) call(static_cast<Rank>(other));
        }
  }

 private:
  Rank num_ranks_;
  Rank width_;
  int dimensions_;
};

void stencil_rows(Rank num_ranks, Rank degree, Random&, Rows& rows) {
  constexpr Rank in_a_plane = 8;
  constexpr Rank in_space = 26;
  if (degree != in_a_plane && degree != in_space)
    refuse("degree " + std::to_string(degree) + ": a stencil has 8 (two dimensions) or 26 (three)");
  const Box box(num_ranks, degree == in_a_plane ? 2 : 3);
  rows.begin = {0};
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    box.neighbours(rank, 1, [&](Rank other) { rows.partners.push_back(other); });
    rows.begin.push_back(rows.partners.size());
  }
}

/// Makes rows from random points, one in each cell of a square. Points closer than a radius are neighbours.
/// The radius is such that ranks have `degree` neighbours on average.
void mesh_rows(Rank num_ranks, Rank degree, Random& random, Rows& rows) {
  const Box box(num_ranks, 2);
  const double radius = std::sqrt(static_cast<double>(degree) / std::numbers::pi);
  const auto reach = static_cast<Rank>(std::ceil(radius)) + 1;
  std::vector<std::array<double, 2>> points(index(num_ranks));
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    const auto row = rank / box.width();
    points[index(rank)] = {rank % box.width() + random.unit(), row + random.unit()};
  }
  rows.begin = {0};
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    box.neighbours(rank, reach, [&](Rank other) {
      const double dx = points[index(rank)][0] - points[index(other)][0];
      const double dy = points[index(rank)][1] - points[index(other)][1];
      if (dx * dx + dy * dy < radius * radius) rows.partners.push_back(other);
    });
    rows.begin.push_back(rows.partners.size());
  }
}

/// Makes rows in which few ranks send and receive much more than others. The numbers of partners follow a
/// power law, from about degree / 2 to 32 times the degree. Destinations are drawn so that the first ranks
/// are in most lists.
void power_rows(Rank num_ranks, Rank degree, Random& random, Rows& rows) {
  const Rank quarter = num_ranks / 4;
  const double most = std::min<double>(quarter, 32.0 * degree);
  rows.begin = {0};
  std::vector<Rank> row;
  for (Rank src = 0; src < num_ranks; ++src) {
    const double wanted = 0.5 * degree * std::pow(1 - random.unit(), -1 / 1.8);
    row.clear();
    for (auto left = static_cast<Rank>(std::min(most, std::max(1.0, wanted))); left > 0; --left)
      row.push_back(static_cast<Rank>(num_ranks * std::pow(random.unit(), 1.5)));
    std::ranges::sort(row);
    const auto end = std::ranges::unique(row).begin();
    std::copy_if(row.begin(), end, std::back_inserter(rows.partners), [&](Rank dst) { return dst != src; });
    rows.begin.push_back(rows.partners.size());
  }
}

constexpr Pattern pattern_table[] = {
    {"random", "every rank sends and receives `degree` messages, to and from anywhere", random_rows},
    {"stencil", "a box of ranks, degree 8 in two dimensions or 26 in three, not periodic", stencil_rows},
    {"mesh", "neighbours in an irregular mesh of the plane, `degree` on average", mesh_rows},
    {"power", "a power law: few ranks have many times `degree` partners", power_rows},
};

Bytes one(Random&) { return 1; }
Bytes up_to_32(Random& random) { return static_cast<Bytes>(1 + random.below(32)); }
Bytes zipf(Random& random) {
  constexpr double exponent = 1.2;
  constexpr double least = 1e-5;  // so that no message has more than 14,678 units
  return static_cast<Bytes>(std::pow(least + (1 - least) * random.unit(), -1 / exponent));
}

constexpr SizeLaw size_table[] = {
    {"equal", "one unit", one},
    {"uniform", "1 to 32 units, each as often", up_to_32},
    {"zipf", "1 to 14,678 units, above k units one in k^1.2", zipf},
};

}  // namespace

std::span<const Pattern> patterns() { return pattern_table; }
std::span<const SizeLaw> size_laws() { return size_table; }

Rows make_rows(std::string_view pattern, std::string_view sizes, Rank num_ranks, Rank degree,
               std::uint64_t seed) {
  const Pattern& maker = core::require_row(patterns(), "pattern", pattern);
  const SizeLaw& law = core::require_row(size_laws(), "law of sizes", sizes);
  if (num_ranks < 1) refuse("number of ranks " + std::to_string(num_ranks) + ": at least 1");
  core::require_at_most_max_ranks(num_ranks);
  if (degree < 0) refuse("degree " + std::to_string(degree) + ": at least 0");
  constexpr Bytes unit = 1024;
  Random random(seed);
  Rows rows;
  maker.make(num_ranks, degree, random, rows);
  rows.partners.shrink_to_fit();
  rows.colours.assign(rows.size(), distributed::no_colour);
  rows.bytes.resize(rows.size());
  for (Bytes& bytes : rows.bytes) bytes = unit * law.units(random);
  return rows;
}

}  // namespace nuice::scale
