// SPDX-License-Identifier: BSD-3-Clause
// Networks: the kinds, a network from its spec, its links and routes, and the bounds that they give.
#include "nuice/core/networks.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "nuice/core/bounds.hpp"

namespace nuice::python {
namespace {

Link checked_link(const Topology& topology, LinkId id) {
  if (id < 0 || id >= topology.num_links()) {
    throw nb::index_error(
        ("link " + std::to_string(id) + " is outside 0.." + std::to_string(topology.num_links() - 1))
            .c_str());
  }
  return topology.link(id);
}

std::vector<LinkId> route(const Topology& topology, Rank src, Rank dst) {
  require_rank(src, topology.num_ranks());
  require_rank(dst, topology.num_ranks());
  std::vector<LinkId> links;
  topology.append_route(src, dst, links);
  return links;
}

std::vector<LinkId> path(const Topology& topology, Rank src, Rank dst, std::int64_t number) {
  require_rank(src, topology.num_ranks());
  require_rank(dst, topology.num_ranks());
  if (number < 0 || number >= topology.num_paths(src, dst)) throw nb::index_error("no such path");
  std::vector<LinkId> links;
  topology.append_path(src, dst, number, links);
  return links;
}

void register_topology(nb::module_& module) {
  nb::class_<Link>(
      module, "Link",
      "One direction of a cable. Vertices below num_ranks are ranks; the other vertices are switches.")
      .def_ro("src", &Link::from, "The vertex where it begins.")
      .def_ro("dst", &Link::to, "The vertex where it ends.")
      .def_ro("capacity", &Link::capacity,
              "The number of simultaneous transfers at the full speed of a rank's port.")
      .def_prop_ro(
          "slots", &Link::slots,
          "The number of transfers per phase without link contention: the capacity, rounded down, but "
          "at least 1.")
      .def("__repr__", [](const Link& l) {
        return "<Link " + std::to_string(l.from) + " -> " + std::to_string(l.to) + ">";
      });
  nb::class_<Topology>(module, "Topology", "A network with static routing, made by make_topology().")
      .def_prop_ro("name", &Topology::name, "The argument of make_topology().")
      .def_prop_ro("num_ranks", &Topology::num_ranks)
      .def_prop_ro("num_links", &Topology::num_links)
      .def("link", &checked_link, nb::arg("id"))
      .def("route", &route, nb::arg("src"), nb::arg("dst"),
           "Returns the ids of the links that a transfer crosses, in order. A rank's own port is not a link.")
      .def("num_paths", &Topology::num_paths, nb::arg("src"), nb::arg("dst"),
           "Returns the number of paths from src to dst among which path_coloring, random routing and "
           "adaptive\n"
           "routing choose.")
      .def("path", &path, nb::arg("src"), nb::arg("dst"), nb::arg("number"),
           "Returns the ids of the links of path `number`.")
      .def("vertex_name", &Topology::vertex_name, nb::arg("vertex"),
           "Returns a name of the vertex: \"rank 5\", \"switch 2\", or the name in the network file.")
      .def("__repr__", [](const Topology& t) { return "<Topology " + t.name() + ">"; });
  nb::class_<TopologyKind>(module, "TopologyKind", "A registry entry: a kind of network.")
      .def_ro("name", &TopologyKind::name)
      .def_ro("syntax", &TopologyKind::syntax)
      .def_ro("summary", &TopologyKind::summary)
      .def_ro("source", &TopologyKind::source);
}

void register_bounds(nb::module_& module) {
  nb::class_<LinkBounds>(module, "LinkBounds", "Lower bounds for direct schedules without link contention.")
      .def_ro("phases", &LinkBounds::phases, "The maximum number of messages over a link, per slot.")
      .def_ro("phases_at", &LinkBounds::phases_at, "The link with this maximum; -1 if no route has links.")
      .def_ro("bytes", &LinkBounds::bytes, "The maximum number of bytes over a link, per slot.")
      .def_ro("bytes_at", &LinkBounds::bytes_at);
  module.def("link_bounds", &link_bounds, nb::arg("matrix"), nb::arg("topology"), without_gil(),
             "Returns lower bounds on phases and phase_bytes from the busiest link.");
  module.def("link_rounds", &link_rounds, nb::arg("schedule"), nb::arg("topology"), without_gil(),
             "Returns how many phases a schedule takes if transfers that share a link wait for each other.");
}

}  // namespace

void register_networks(nb::module_& module) {
  register_topology(module);
  register_bounds(module);
  module.def(
      "topology_kinds",
      [] { return std::vector<TopologyKind>(topology_kinds().begin(), topology_kinds().end()); },
      "Returns all kinds of networks, in a fixed order.");
  module.def(
      "make_topology",
      [](const std::string& spec) {
        // Python owns it; nothing that it can call changes it.
        return const_cast<Topology*>(make_topology(spec).release());  // NOLINT(*-const-cast)
      },
      nb::arg("spec"), nb::rv_policy::take_ownership, without_gil(),
      "Makes the network that \"hypercube:6\", \"torus:8x8\" or \"file:NAME\" describes "
      "(docs/reference/networks.md).");
}

}  // namespace nuice::python
