// SPDX-License-Identifier: BSD-3-Clause
// Fat trees: with real switches (fattree), and with one fat link instead of several cables (tree, cm5).
//
// fattree:M1xM2x..xMH/T1x..xT(H-1) is an XGFT (Oehring et al., IPPS 1995). A switch of level l has Ml
// children; the children of level 1 are ranks. A switch below the top has Ml / Tl upward cables, each to a
// different parent. A switch of level l is (s, r): s is the number of its subtree on level l, and r, from 0
// to Rl - 1, numbers the top switches of this subtree. Cable u leads from (s, r) to (s / M(l+1), r + Rl u).
// fattree:4x4x4 is the 4-ary 3-tree of Petrini and Vanneschi (IPPS 1997).
//
// Up-down routing, d-mod-k (Zahavi, CCIT 2010; Zahavi et al., 2010), leads up until the subtree contains dst,
// over cable
//
//   u = dst / (W2 W3 .. Wl) mod W(l+1)    at level l, where W(l+1) = Ml / Tl,
//
// and then down the only route. The route is a function of dst and of the level at which it turns. All
// messages to one rank meet at one root. If the tree has full upward capacity, a shift of all ranks shares no
// link.
//
// tree:... has the same shape, but all upward cables of a subtree are one link. Its capacity is the subtree's
// number of ranks divided by T1 .. Tl. This models switches that spread each message over all cables, like
// the CM-5's random routing.
//
// cm5:N is such a tree with four children per switch. 001 s.2 gives 20 MB/s inside a cluster of four ranks
// and at least 5 MB/s to any rank. The machine itself has 10 MB/s inside sixteen ranks (Leiserson et al.,
// SPAA 1992). Therefore the capacity per rank is halved above four ranks, halved again above sixteen, and
// then stays the same.
#include <numeric>
#include <utility>

#include "topology/kinds.hpp"

namespace nuice::topo {
namespace {

using Counts = std::vector<std::int64_t>;

/// The arguments of fattree and tree.
struct Shape {
  Counts children;  // by level, from 1 on
  Counts thinning;  // by level, without the top; 1 if not given

  explicit Shape(const Spec& spec) {
    const auto parts = split_at(spec.arguments, '/');
    if (parts.size() > 2) spec.fail("more than one \"/\"");
    children = spec.parse_counts(parts[0]);
    if (parts.size() == 2) thinning = spec.parse_counts(parts[1]);
    if (thinning.size() >= children.size()) {
      spec.fail("thinning is given for " + std::to_string(thinning.size()) + " levels, there are " +
                std::to_string(children.size() - 1) + " below the top");
    }
    thinning.resize(children.size() - 1, 1);
    spec.check_size(std::accumulate(children.begin(), children.end(), std::int64_t{1}, saturating_product),
                    0);
  }
};

class FatTree final : public NamedTopology {
 public:
  struct Level {
    Rank ranks;  // number of ranks in a subtree of this level
    Rank num_subtrees;
    Rank tops;       // number of top switches of a subtree: Rl
    Rank up_cables;  // number of upward cables of a switch; 0 at the top
    Rank first_vertex;
    LinkId first_up;  // first of the links to the next level; downward links have the same order
    LinkId first_down;
  };

  FatTree(const Spec& spec, std::int64_t num_ranks, std::int64_t num_links, std::vector<Level> levels)
      : NamedTopology(spec, num_ranks, num_links), levels_(std::move(levels)) {}

  Link link(LinkId id) const override {
    std::size_t l = 0;
    while (id >= levels_[l + 1].first_up) ++l;
    const Level& low = levels_[l];
    const Level& high = levels_[l + 1];
    const bool is_up = id < low.first_down;
    const LinkId place = id - (is_up ? low.first_up : low.first_down);
    const Rank cable = place % low.up_cables;
    const Rank child = place / low.up_cables;  // s * tops + r
    const Rank parent_subtree = child / low.tops * low.ranks / high.ranks;
    const Rank parent = parent_subtree * high.tops + child % low.tops + low.tops * cable;
    const Rank a = low.first_vertex + child;
    const Rank b = high.first_vertex + parent;
    return is_up ? Link{a, b, 1} : Link{b, a, 1};
  }

  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    append_path(src, dst, dst, route);
  }

  /// Returns the product of the numbers of upward cables of all levels of the route.
  std::int64_t num_paths(Rank src, Rank dst) const override {
    std::int64_t paths = 1;
    for (std::size_t l = 0; src / levels_[l].ranks != dst / levels_[l].ranks; ++l)
      paths *= levels_[l].up_cables;
    return paths;
  }

  std::vector<TreeLevel> levels() const override {
    std::vector<TreeLevel> result;
    for (const Level& level : levels_) result.push_back({level.ranks, level.up_cables});
    return result;
  }

  /// Appends the path whose digits are the upward cables. With d-mod-k the digits are those of dst.
  void append_path(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const override {
    std::size_t l = 0;
    Rank top = 0;  // r of the current switch
    for (; src / levels_[l].ranks != dst / levels_[l].ranks; ++l) {
      const Level& level = levels_[l];
      const Rank cable = static_cast<Rank>(path % level.up_cables);
      path /= level.up_cables;
      route.push_back(level.first_up + ((src / level.ranks) * level.tops + top) * level.up_cables + cable);
      top += level.tops * cable;
    }
    while (l-- > 0) {
      const Level& level = levels_[l];
      const Rank cable = top / level.tops;
      top %= level.tops;
      route.push_back(level.first_down + ((dst / level.ranks) * level.tops + top) * level.up_cables + cable);
    }
  }

 private:
  std::vector<Level> levels_;
};

/// A tree with one switch per subtree. The last subtrees may be only partly filled with ranks.
class Tree final : public NamedTopology {
 public:
  struct Level {
    Rank ranks;  // number of ranks in a full subtree of this level
    Rank num_subtrees;
    double capacity;  // of the upward link
    Rank first_vertex;
    LinkId first_up;  // one link per subtree, then equally many downward links; none at the top
  };

  Tree(const Spec& spec, std::int64_t num_ranks, std::int64_t num_links, std::vector<Level> levels)
      : NamedTopology(spec, num_ranks, num_links), levels_(std::move(levels)) {}

  Link link(LinkId id) const override {
    std::size_t l = 0;
    while (id >= levels_[l + 1].first_up) ++l;
    const Level& low = levels_[l];
    const Level& high = levels_[l + 1];
    const LinkId place = id - low.first_up;
    const Rank subtree = place % low.num_subtrees;
    const Rank a = low.first_vertex + subtree;
    const Rank b = high.first_vertex + subtree / (high.ranks / low.ranks);
    return place < low.num_subtrees ? Link{a, b, low.capacity} : Link{b, a, low.capacity};
  }

  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    std::size_t l = 0;
    for (; src / levels_[l].ranks != dst / levels_[l].ranks; ++l) {
      route.push_back(levels_[l].first_up + src / levels_[l].ranks);
    }
    while (l-- > 0) route.push_back(levels_[l].first_up + levels_[l].num_subtrees + dst / levels_[l].ranks);
  }

 private:
  std::vector<Level> levels_;
};

Made make_tree_of(const Spec& spec, std::int64_t num_ranks, const Counts& children,
                  const std::vector<double>& thinning) {
  std::vector<Tree::Level> levels;
  std::int64_t ranks = 1;
  std::int64_t num_vertices = num_ranks;
  std::int64_t num_links = 0;
  double thinned = 1;
  for (std::size_t l = 0; l < children.size(); ++l) {
    ranks = saturating_product(ranks, children[l]);
    const std::int64_t subtrees = (num_ranks - 1) / ranks + 1;
    const bool is_top = l + 1 == children.size();
    if (!is_top) thinned *= thinning[l];
    spec.check_size(num_vertices + subtrees, num_links);
    levels.push_back({static_cast<Rank>(std::min(ranks, max_vertices)), static_cast<Rank>(subtrees),
                      static_cast<double>(ranks) / thinned, static_cast<Rank>(num_vertices),
                      static_cast<LinkId>(num_links)});
    num_vertices += subtrees;
    if (!is_top) num_links += 2 * subtrees;
  }
  return std::make_unique<Tree>(spec, num_ranks, num_links, std::move(levels));
}

}  // namespace

Made make_fat_tree(const Spec& spec) {
  const Shape shape(spec);
  const Counts& children = shape.children;
  std::int64_t subtrees =
      std::accumulate(children.begin(), children.end(), std::int64_t{1}, saturating_product);
  const std::int64_t num_ranks = subtrees;
  std::vector<FatTree::Level> levels;
  std::int64_t ranks = 1;
  std::int64_t tops = 1;
  std::int64_t num_vertices = num_ranks;
  std::int64_t num_links = 0;
  for (std::size_t l = 0; l < children.size(); ++l) {
    ranks *= children[l];
    subtrees /= children[l];
    const bool is_top = l + 1 == children.size();
    if (!is_top && children[l] % shape.thinning[l] != 0) {
      spec.fail("thinning " + std::to_string(shape.thinning[l]) + " : 1 does not divide the " +
                std::to_string(children[l]) + " children of level " + std::to_string(l + 1));
    }
    const std::int64_t up_cables = is_top ? 0 : children[l] / shape.thinning[l];
    const std::int64_t switches = saturating_product(subtrees, tops);
    const std::int64_t cables = saturating_product(switches, up_cables);
    spec.check_size(num_vertices + switches, num_links + 2 * cables);
    levels.push_back({static_cast<Rank>(ranks), static_cast<Rank>(subtrees), static_cast<Rank>(tops),
                      static_cast<Rank>(up_cables), static_cast<Rank>(num_vertices),
                      static_cast<LinkId>(num_links), static_cast<LinkId>(num_links + cables)});
    num_vertices += switches;
    num_links += 2 * cables;
    tops = saturating_product(tops, up_cables);
  }
  return std::make_unique<FatTree>(spec, num_ranks, num_links, std::move(levels));
}

Made make_tree(const Spec& spec) {
  const Shape shape(spec);
  const std::int64_t num_ranks =
      std::accumulate(shape.children.begin(), shape.children.end(), std::int64_t{1}, saturating_product);
  return make_tree_of(spec, num_ranks, shape.children, {shape.thinning.begin(), shape.thinning.end()});
}

Made make_cm5(const Spec& spec) {
  const std::int64_t num_ranks = spec.parse_count(spec.arguments);
  Counts children{4};
  for (std::int64_t ranks = 4; ranks < num_ranks; ranks *= 4) children.push_back(4);
  std::vector<double> thinning(children.size(), 1);
  for (std::size_t l = 0; l < thinning.size() && l < 2; ++l) thinning[l] = 2;
  return make_tree_of(spec, num_ranks, children, thinning);
}

}  // namespace nuice::topo
