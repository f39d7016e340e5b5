// SPDX-License-Identifier: BSD-3-Clause
// Matrices of a million ranks, as rows. Users select a pattern and a distribution of sizes by name.
#pragma once

#include <span>
#include <string_view>

#include "nuice/core/random.hpp"
#include "schedulers/distributed/rows.hpp"

namespace nuice::scale {

using distributed::Rows;

/// A rule for which rank sends to which.
struct Pattern {
  std::string_view name;
  std::string_view summary;
  /// Fills begin and partners. Throws Error `invalid_argument` if the pattern does not allow the degree.
  void (*make)(Rank num_ranks, Rank degree, Random& random, Rows& rows);
};
std::span<const Pattern> patterns();

/// A distribution of message sizes, in units of bytes.
struct SizeLaw {
  std::string_view name;
  std::string_view summary;
  Bytes (*units)(Random& random);
};
std::span<const SizeLaw> size_laws();

/// Returns the messages that all ranks send. Throws Error `invalid_argument` for unknown names, and like
/// Pattern::make.
Rows make_rows(std::string_view pattern, std::string_view sizes, Rank num_ranks, Rank degree,
               std::uint64_t seed);

}  // namespace nuice::scale
