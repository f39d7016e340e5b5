// SPDX-License-Identifier: BSD-3-Clause
// What make_topology hands to the maker of a kind, and how makers read it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/topology.hpp"

namespace nuice::topo {

/// Largest number of ranks and switches together; keeps sums and products of a few of them within 64 bits.
inline constexpr std::int64_t max_vertices = std::int64_t{1} << 24;

/// "mesh:4x4x2", taken apart at the first colon.
struct Spec {
  std::string text;
  std::string syntax;     // of this kind, for messages
  std::string arguments;  // what follows the colon; may be empty

  /// Throws Error invalid_argument that names the spec.
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws Error limit if there are too many.
  void check_size(std::int64_t num_vertices, std::int64_t num_links) const;

  /// A whole number from `least` up to max_vertices.
  std::int64_t parse_count(std::string_view word, std::int64_t least = 1) const;
  double parse_capacity(std::string_view word) const;
  /// "4x4x2": counts of at least `least`.
  std::vector<std::int64_t> parse_counts(std::string_view words, std::int64_t least = 1) const;
};

/// The parts of `text` between `separator`s; one part more than there are separators.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// a * b, or a number above max_vertices^2 where that is too large; for products of counts. Requires a, b >= 0.
inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  return b != 0 && a > most / b ? most : a * b;
}

/// A topology that keeps its name and sizes.
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
