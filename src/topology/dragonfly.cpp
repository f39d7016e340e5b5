// SPDX-License-Identifier: BSD-3-Clause
// Dragonfly with minimal routing (Kim, Dally, Scott and Abts, ISCA 2008).
//
// There are g groups of `a` routers. Each router has p ranks, a cable to every other router of its group, and
// h global cables. The a h global ports of a group, router by router, lead to the other groups in ascending
// order, in as many rounds as fit. Port j of group i belongs to round j / (g - 1). It leads to group t, where
// t = j mod (g - 1), plus 1 if that is at least i. Ports that do not fill a round stay unused. The largest
// network has g = a h + 1 groups, and one cable between any two. A network with a = 2 p = 2 h is balanced.
//
// Minimal routing leads inside the group to the router with the cable to dst's group, then over this cable,
// and then inside dst's group to dst's router. With several rounds a message takes the cable of round dst mod
// rounds. The cables of all rounds are its paths. With paths=N there are up to N paths. The additional paths
// make one detour (Valiant and Brebner 1981): through another group or, inside a group, over another router.
#include <algorithm>
#include <utility>

#include "topology/kinds.hpp"

namespace nuice::topo {
namespace {

struct DragonflyShape {
  Rank a;      // number of routers in a group
  Rank h;      // number of global cables of a router
  Rank p;      // number of ranks on a router
  Rank g;      // number of groups
  Rank paths;  // maximum number of paths of a pair; does not limit minimal paths
  Rank rounds() const { return g > 1 ? a * h / (g - 1) : 0; }
};

class Dragonfly final : public NamedTopology {
 public:
  Dragonfly(const Spec& spec, const DragonflyShape& shape)
      : NamedTopology(spec, std::int64_t{shape.a} * shape.p * shape.g, num_links_of(shape)),
        shape_(shape),
        rounds_(shape.rounds()),
        ports_(rounds_ * (shape.g - 1)),
        first_global_(shape.g * shape.a * (shape.a - 1)) {}

  static std::int64_t num_links_of(const DragonflyShape& shape) {
    const std::int64_t local = std::int64_t{shape.a} * (shape.a - 1);
    return shape.g * (local + std::int64_t{shape.rounds()} * (shape.g - 1));
  }

  Link link(LinkId id) const override {
    if (id < first_global_) {
      const Rank router = id / (shape_.a - 1);  // number among all routers
      const Rank other = id % (shape_.a - 1);
      const Rank here = router % shape_.a;
      return {vertex(router), vertex(router - here + skip(other, here)), 1};
    }
    const Rank group = (id - first_global_) / ports_;
    const Rank port = (id - first_global_) % ports_;
    const Rank to = skip(port % (shape_.g - 1), group);
    const Rank port_there = port / (shape_.g - 1) * (shape_.g - 1) + place_of(group, to);
    return {vertex(group * shape_.a + port / shape_.h), vertex(to * shape_.a + port_there / shape_.h), 1};
  }

  void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const override {
    append_path(src, dst, src / (shape_.a * shape_.p) == dst / (shape_.a * shape_.p) ? 0 : dst % rounds_,
                route);
  }

  /// Returns the number of paths: the cables between two groups (1 inside a group), and the detours.
  std::int64_t num_paths(Rank src, Rank dst) const override {
    const Rank from = src / shape_.p;  // router of src
    const Rank to = dst / shape_.p;
    if (from == to) return 1;
    const bool inside = from / shape_.a == to / shape_.a;
    const Rank minimal = inside ? 1 : rounds_;
    const Rank detours = (inside ? shape_.a : shape_.g) - 2;
    return std::clamp(shape_.paths, minimal, minimal + detours);
  }

  void append_path(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const override {
    Rank at = src / shape_.p;  // the router that the route has reached
    const Rank end = dst / shape_.p;
    const Rank group = at / shape_.a;
    const Rank to = end / shape_.a;
    if (group == to) {
      if (path > 0) {
        const Rank other =
            nth_detour(static_cast<Rank>(path) - 1, dst, shape_.a, at % shape_.a, end % shape_.a);
        append_local(at, group * shape_.a + other, route);
        at = group * shape_.a + other;
      }
    } else if (path < rounds_) {
      at = append_global(at, to, static_cast<Rank>(path), route);
    } else {
      const Rank other = nth_detour(static_cast<Rank>(path) - rounds_, dst, shape_.g, group, to);
      at = append_global(at, other, dst % rounds_, route);
      at = append_global(at, to, dst % rounds_, route);
    }
    append_local(at, end, route);
  }

 private:
  std::int32_t vertex(Rank router) const { return num_ranks() + router; }
  /// Returns the i-th number that is not `left_out`. place_of() is the inverse.
  static Rank skip(Rank i, Rank left_out) { return i < left_out ? i : i + 1; }
  static Rank place_of(Rank number, Rank left_out) { return number < left_out ? number : number - 1; }

  /// Returns the k-th of `all` groups or routers, without `from` and `to`. Counting begins at a place that
  /// depends on dst, so that the first detours of different pairs differ.
  static Rank nth_detour(Rank k, Rank dst, Rank all, Rank from, Rank to) {
    const Rank place = (dst + k) % (all - 2);
    const Rank low = std::min(from, to);
    return skip(skip(place, low), std::max(from, to));
  }

  /// Appends the route from a router over its group's cable to group `to`. Returns the router at the cable's
  /// end.
  Rank append_global(Rank router, Rank to, Rank round, std::vector<LinkId>& route) const {
    const Rank group = router / shape_.a;
    const Rank first_port = round * (shape_.g - 1);
    const Rank port = first_port + place_of(to, group);
    append_local(router, group * shape_.a + port / shape_.h, route);
    route.push_back(first_global_ + group * ports_ + port);
    return to * shape_.a + (first_port + place_of(group, to)) / shape_.h;
  }

  /// Appends the link between two routers of one group.
  void append_local(Rank from, Rank to, std::vector<LinkId>& route) const {
    if (from != to) route.push_back(from * (shape_.a - 1) + place_of(to % shape_.a, from % shape_.a));
  }

  DragonflyShape shape_;
  Rank rounds_;  // number of cables between any two groups
  Rank ports_;   // number of used global ports of a group
  LinkId first_global_;
};

}  // namespace

Made make_dragonfly(const Spec& spec) {
  std::int64_t a = 0;
  std::int64_t h = 0;
  std::int64_t p = 0;
  std::int64_t g = 0;
  std::int64_t paths = 0;
  for (const std::string_view part : split_at(spec.arguments, ',')) {
    std::int64_t* const value = part.starts_with("a=")       ? &a
                                : part.starts_with("h=")     ? &h
                                : part.starts_with("p=")     ? &p
                                : part.starts_with("g=")     ? &g
                                : part.starts_with("paths=") ? &paths
                                                             : nullptr;
    if (value == nullptr) spec.fail("\"" + std::string(part) + "\" is not one of a=, h=, p=, g=, paths=");
    const std::size_t behind = part.find('=') + 1;
    if (*value != 0) spec.fail("\"" + std::string(part.substr(0, behind)) + "\" is given twice");
    *value = spec.parse_count(part.substr(behind));
  }
  if (a == 0 || h == 0 || p == 0) spec.fail("a=, h= and p= must be given");
  const std::int64_t ports = saturating_product(a, h);
  if (g == 0) g = ports + 1;
  if (g > ports + 1) {
    spec.fail(std::to_string(g) + " groups, but the " + std::to_string(ports) +
              " global cables of a group reach " + std::to_string(ports) + " others");
  }
  const std::int64_t routers = saturating_product(a, g);
  spec.check_size(saturating_product(routers, p + 1), 0);
  const std::int64_t links_per_router = (a - 1) + h;
  spec.check_size(routers, saturating_product(routers, links_per_router));
  const DragonflyShape shape{static_cast<Rank>(a), static_cast<Rank>(h), static_cast<Rank>(p),
                             static_cast<Rank>(g), static_cast<Rank>(std::min(paths, max_vertices))};
  return std::make_unique<Dragonfly>(spec, shape);
}

}  // namespace nuice::topo
