// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds and the checker. Guarantees are names in Python: ["direct", "one_port"].
#include "nuice/core/check.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "bindings.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/core/error.hpp"

namespace nuice::python {

unsigned guarantee_flags(const std::vector<std::string>& names) {
  unsigned flags = 0;
  for (const std::string& name : names) flags |= find_guarantee(name);
  return flags;
}

std::vector<std::string> guarantee_list(unsigned flags) {
  std::istringstream names(guarantee_names(flags));
  std::vector<std::string> list;
  for (std::string name; names >> name;) list.push_back(name);
  return list;
}

namespace {

void register_bounds(nb::module_& module) {
  nb::class_<Busiest>(module, "Busiest", "A rank and a direction that reach a bound.")
      .def_ro("rank", &Busiest::rank, "The rank; NO_RANK for a matrix without messages.")
      .def_prop_ro(
          "direction", [](const Busiest& b) { return b.direction == Direction::send ? "send" : "receive"; },
          "The direction: \"send\" or \"receive\".");
  nb::class_<Bounds>(module, "Bounds", "Lower bounds for schedules on ranks with one port each.")
      .def_ro("max_degree", &Bounds::max_degree,
              "The maximum number of messages that a rank sends or receives.")
      .def_ro("max_degree_at", &Bounds::max_degree_at)
      .def_ro("max_port_bytes", &Bounds::max_port_bytes,
              "The maximum number of bytes that a rank sends or receives.")
      .def_ro("max_port_bytes_at", &Bounds::max_port_bytes_at)
      .def_ro("total_bytes", &Bounds::total_bytes);
  module.def("lower_bounds", &lower_bounds, nb::arg("matrix"), without_gil(),
             "Returns lower bounds on phases and phase_bytes.");
  module.def(
      "whole_message_bytes", &whole_message_bytes, nb::arg("matrix"), without_gil(),
      "Returns a lower bound on the phase_bytes of schedules that split no message: the sum over k of the\n"
      "largest of all ranks' k-th-largest messages. Messages that a rank sends and messages that it\n"
      "receives are counted separately.");
}

void register_violation(nb::module_& module) {
  nb::class_<Violation>(module, "Violation", "A fault of a schedule, and its place.")
      .def_prop_ro("kind", [](const Violation& v) { return violation_name(v.kind); })
      .def_ro("phase", &Violation::phase)
      .def_ro("src", &Violation::src)
      .def_ro("dst", &Violation::dst)
      .def_ro("message_src", &Violation::message_src)
      .def_ro("message_dst", &Violation::message_dst)
      .def_ro("offset", &Violation::offset)
      .def_ro("bytes", &Violation::bytes)
      .def_ro("link", &Violation::link, "The link with too many transfers, for Topology.link(), or NO_LINK.")
      .def_ro("other_src", &Violation::other_src, "The source of an earlier transfer over that link.")
      .def_ro("other_dst", &Violation::other_dst)
      .def_ro("text", &Violation::text, "One sentence that contains all of the above.")
      .def("__repr__", [](const Violation& v) { return "<Violation: " + v.text + ">"; });
}

}  // namespace

void register_check(nb::module_& module) {
  register_bounds(module);
  register_violation(module);
  module.def(
      "check",
      [](const CommMatrix& matrix, const Schedule& schedule, const std::vector<std::string>& guarantees,
         const Topology* topology) {
        const unsigned flags = guarantee_flags(guarantees);
        const Interruptible interruptible;
        return check(matrix, schedule, flags, topology);
      },
      nb::arg("matrix"), nb::arg("schedule"), nb::arg("guarantees") = std::vector<std::string>{},
      nb::arg("topology").none() = nb::none(),
      "Returns the first violation, or None if the schedule delivers every byte of the matrix exactly once\n"
      "and keeps the guarantees (\"direct\", \"one_port\", \"fewest_phases\", \"fewest_bytes\", and with a "
      "topology\n"
      "\"link_free\").");
  module.def(
      "find_link_contention",
      [](const Schedule& schedule, PhaseId phase, const Topology& topology) {
        if (phase >= schedule.num_phases()) throw nb::index_error("no phase has that number");
        return find_link_contention(schedule, phase, topology);
      },
      nb::arg("schedule"), nb::arg("phase"), nb::arg("topology"), without_gil(),
      "Returns the first transfer of the phase that exceeds the slots of a link, or None.");
  module.def(
      "find_node_contention",
      [](const Schedule& schedule, PhaseId phase) {
        if (phase >= schedule.num_phases()) throw nb::index_error("no phase has that number");
        return find_node_contention(schedule, phase);
      },
      nb::arg("schedule"), nb::arg("phase"), without_gil(),
      "Returns the first rank that sends twice or receives twice in the phase, or None.");
}

}  // namespace nuice::python
