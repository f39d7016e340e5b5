// SPDX-License-Identifier: BSD-3-Clause
// Crossbar, hypercube, mesh and torus.
//
// Hypercube: for each d, rank r has a link to the rank whose number differs in bit d, and r * D + d is the
// link's id. E-cube routing (Sullivan and Bashkow, ISCA 1977; iPSC/860) flips the lowest differing bit first.
//
// Mesh and torus: rank = x1 + K1 (x2 + K2 (x3 + ...)). Dimension-order routing (Dally and Seitz, IEEE TC
// 36(5), 1987) follows the first dimension first. Links are numbered dimension by dimension, upward links
// before downward links. Only existing links have ids: a line of K ranks has K - 1 cables, a ring has K. A
// ring of two ranks would have two parallel cables; it gets only one, as in a mesh.
#include <bit>
#include <utility>

#include "topology/kinds.hpp"

namespace nuice::topo {
namespace {

/// A network that consists of ports only, so routes are empty.
class Crossbar final : public NamedTopology {
 public:
  Crossbar(const Spec& spec, std::int64_t num_ranks) : NamedTopology(spec, num_ranks, 0) {}
  Link link(LinkId /*id*/) const override { return {no_rank, no_rank, 1}; }  // never called
  void append_route(Rank /*src*/, Rank /*dst*/, std::vector<LinkId>& /*route*/) const override {}
};

class Hypercube final : public NamedTopology {
 public:
  Hypercube(const Spec& spec, int dimensions)
      : NamedTopology(spec, std::int64_t{1} << dimensions, std::int64_t{dimensions} << dimensions),
        dimensions_(dimensions) {}

  Link link(LinkId id) const override {
    const Rank from = id / dimensions_;
    return {from, from ^ (1 << id % dimensions_), 1};
  }

  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    while (src != dst) {
      const int bit = std::countr_zero(static_cast<std::uint32_t>(src ^ dst));
      route.push_back(src * dimensions_ + bit);
      src ^= 1 << bit;
    }
  }

 private:
  int dimensions_;
};

/// One dimension of a mesh or torus. Its lines are numbered like ranks, but without this coordinate.
struct Dimension {
  Rank length;        // number of ranks in a line
  Rank stride;        // difference of the numbers of neighbours
  bool is_ring;       // whether a cable joins the last rank and the first
  Rank cables;        // number of cables in a line
  LinkId first_link;  // id of the first link along this dimension
  LinkId first_down;  // id of the first link to a lower coordinate
};

class Grid final : public NamedTopology {
 public:
  Grid(const Spec& spec, std::int64_t num_ranks, std::int64_t num_links, std::vector<Dimension> dimensions)
      : NamedTopology(spec, num_ranks, num_links), dimensions_(std::move(dimensions)) {}

  Link link(LinkId id) const override {
    std::size_t d = dimensions_.size() - 1;
    while (id < dimensions_[d].first_link) --d;
    const Dimension& dim = dimensions_[d];
    const bool is_up = id < dim.first_down;
    const LinkId place = id - (is_up ? dim.first_link : dim.first_down);
    const Rank line = place / dim.cables;
    const Rank low = place % dim.cables;  // the cable joins coordinates low and low + 1
    const Rank origin = line / dim.stride * dim.stride * dim.length + line % dim.stride;
    const Rank a = origin + low * dim.stride;
    const Rank b = origin + (low + 1) % dim.length * dim.stride;
    return is_up ? Link{a, b, 1} : Link{b, a, 1};
  }

  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    Rank at = src;
    for (const Dimension& dim : dimensions_) {
      const Rank from = at / dim.stride % dim.length;
      const Rank to = dst / dim.stride % dim.length;
      append_line(dim, at, from, to, route);
      at += (to - from) * dim.stride;
    }
  }

 private:
  static void append_line(const Dimension& dim, Rank at, Rank from, Rank to, std::vector<LinkId>& route) {
    if (from == to) return;
    const Rank line = at / (dim.stride * dim.length) * dim.stride + at % dim.stride;
    const LinkId first = line * dim.cables;
    const Rank up = to > from ? to - from : to - from + dim.length;  // number of steps upwards
    const bool goes_up = dim.is_ring ? 2 * up <= dim.length : to > from;
    for (Rank x = from; x != to;) {
      if (goes_up) {
        route.push_back(dim.first_link + first + x);
        x = x + 1 == dim.length ? 0 : x + 1;
      } else {
        x = x == 0 ? dim.length - 1 : x - 1;
        route.push_back(dim.first_down + first + x);
      }
    }
  }

  std::vector<Dimension> dimensions_;
};

Made make_grid(const Spec& spec, bool has_rings) {
  const std::vector<std::int64_t> lengths = spec.parse_counts(spec.arguments);
  std::int64_t num_ranks = 1;
  for (const std::int64_t length : lengths) num_ranks = saturating_product(num_ranks, length);
  spec.check_size(num_ranks, 0);
  spec.check_size(num_ranks, 2 * num_ranks * static_cast<std::int64_t>(lengths.size()));
  std::vector<Dimension> dimensions;
  std::int64_t stride = 1;
  std::int64_t num_links = 0;
  for (const std::int64_t length : lengths) {
    const bool is_ring = has_rings && length > 2;
    const std::int64_t cables = is_ring ? length : length - 1;
    const std::int64_t all_cables = num_ranks / length * cables;
    if (cables > 0) {  // a line of one rank is not a dimension
      dimensions.push_back({static_cast<Rank>(length), static_cast<Rank>(stride), is_ring,
                            static_cast<Rank>(cables), static_cast<LinkId>(num_links),
                            static_cast<LinkId>(num_links + all_cables)});
    }
    num_links += 2 * all_cables;
    stride *= length;
  }
  return std::make_unique<Grid>(spec, num_ranks, num_links, std::move(dimensions));
}

}  // namespace

Made make_crossbar(const Spec& spec) {
  const std::int64_t num_ranks = spec.parse_count(spec.arguments);
  return std::make_unique<Crossbar>(spec, num_ranks);
}

Made make_hypercube(const Spec& spec) {
  const std::int64_t dimensions = spec.parse_count(spec.arguments, 0);
  if (dimensions > 24) spec.check_size(max_vertices + 1, 0);
  return std::make_unique<Hypercube>(spec, static_cast<int>(dimensions));
}

Made make_mesh(const Spec& spec) { return make_grid(spec, false); }
Made make_torus(const Spec& spec) { return make_grid(spec, true); }

}  // namespace nuice::topo
