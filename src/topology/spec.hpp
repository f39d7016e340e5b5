// SPDX-License-Identifier: BSD-3-Clause
// The string from which make_topology() makes a network, and functions that parse it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/topology.hpp"

namespace nuice::topo {

/// The maximum number of ranks and switches together. With it, sums and products of a few such numbers fit
/// into 64 bits.
inline constexpr std::int64_t max_vertices = std::int64_t{1} << 24;

/// A string such as "mesh:4x4x2", split at the first colon.
struct Spec {
  std::string text;
  std::string syntax;     // of this kind, for error texts
  std::string arguments;  // the text after the colon; may be empty

  /// Throws Error `invalid_argument`. Its text names the string.
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws Error `limit` if there are too many vertices or links.
  void check_size(std::int64_t num_vertices, std::int64_t num_links) const;

  /// Parses a whole number from `least` to max_vertices.
  std::int64_t parse_count(std::string_view word, std::int64_t least = 1) const;
  /// Parses whole numbers such as "4x4x2", each at least `least`.
  std::vector<std::int64_t> parse_counts(std::string_view words, std::int64_t least = 1) const;
};

/// Returns the parts of `text` between separators; there is one more part than separators.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// Returns a * b, or a number above max_vertices^2 if the product is too large. For products of counts.
/// Requires a, b >= 0.
inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  return b != 0 && a > most / b ? most : a * b;
}

/// A topology that stores its name and its numbers of ranks and links.
class NamedTopology : public Topology {
 public:
  NamedTopology(const Spec& spec, std::int64_t num_ranks, std::int64_t num_links)
      : name_(spec.text),
        num_ranks_(static_cast<Rank>(num_ranks)),
        num_links_(static_cast<LinkId>(num_links)) {}
  std::string name() const final { return name_; }
  Rank num_ranks() const final { return num_ranks_; }
  LinkId num_links() const final { return num_links_; }

 private:
  std::string name_;
  Rank num_ranks_;
  LinkId num_links_;
};

}  // namespace nuice::topo
