// SPDX-License-Identifier: BSD-3-Clause
// The table of schedulers, and making a schedule with the time that it took.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>

#include "bindings.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/rows.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::python {
namespace {

/// The clock runs around `make` alone: what it costs to plan, without looking the row up or crossing
/// languages.
std::pair<Schedule, double> make_timed(const CommMatrix& matrix, const std::string& name, std::uint64_t seed,
                                       Bytes phase_cost_bytes, const Topology* topology, bool prefer_pairs) {
  const Scheduler& scheduler = find_scheduler(name);
  const Problem problem{matrix, seed, phase_cost_bytes, topology, prefer_pairs};
  if (const std::string reason = scheduler.why_not(problem); !reason.empty()) {
    throw Error(ErrorCode::not_applicable, name + ": " + reason);
  }
  const auto begin = std::chrono::steady_clock::now();
  Schedule schedule = scheduler.make(problem);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {std::move(schedule), seconds.count()};
}

std::vector<const Scheduler*> all_schedulers() {
  std::vector<const Scheduler*> rows;
  for (const Scheduler& row : schedulers()) rows.push_back(&row);
  return rows;
}

}  // namespace

void register_schedulers(nb::module_& module) {
  nb::class_<Scheduler>(module, "Scheduler", "A registry entry: a scheduling algorithm.")
      .def_ro("name", &Scheduler::name)
      .def_ro("summary", &Scheduler::summary, "A one-line description.")
      .def_ro("source", &Scheduler::source, "The paper and figure that describe it.")
      .def_prop_ro(
          "guarantees", [](const Scheduler& s) { return guarantee_list(s.guarantees); },
          "The guarantees that all its schedules keep.")
      .def_prop_ro("needs_topology", &Scheduler::needs_topology, "Whether it guarantees link_free.")
      .def_ro("randomized", &Scheduler::randomized, "Whether schedules depend on the seed.")
      .def_ro("alias_of", &Scheduler::alias_of,
              "The first name of the same algorithm; empty if this entry has the first name.")
      .def_prop_ro(
          "gathers", [](const Scheduler& s) { return *s.gathers; },
          "Whether every rank needs the whole matrix, not only its own messages.")
      .def(
          "why_not",
          [](const Scheduler& s, const CommMatrix& matrix, std::uint64_t seed, Bytes phase_cost_bytes,
             const Topology* topology) {
            return s.why_not(
                {.matrix = matrix, .seed = seed, .phase_cost_bytes = phase_cost_bytes, .topology = topology});
          },
          nb::arg("matrix"), nb::arg("seed") = 0, nb::arg("phase_cost_bytes") = default_phase_cost_bytes,
          nb::arg("topology").none() = nb::none(),
          "Returns why the scheduler cannot handle the matrix, in one sentence; empty if it can.")
      .def("__repr__", [](const Scheduler& s) { return "<Scheduler " + std::string(s.name) + ">"; });
  module.def("schedulers", &all_schedulers, nb::rv_policy::reference,
             "Returns all entries, in a fixed order.");
  module.def(
      "find_scheduler", &find_scheduler, nb::arg("name"), nb::rv_policy::reference,
      "Returns the entry with that name. Raises nuice.Error for an unknown name; the text lists the known\n"
      "names.");
  module.def(
      "load_rows", [](const std::filesystem::path& path) { load_rows(path.string()); }, nb::arg("path"),
      "Adds the schedulers and executors of a shared object (nuice/plan/rows.hpp) until Python ends. The\n"
      "object has all rights of this process, so load only objects that you trust. Raises nuice.Error if\n"
      "the object cannot be loaded or an entry cannot be added.");
  module.def(
      "make_schedule", &make_timed, nb::arg("matrix"), nb::arg("scheduler"), nb::arg("seed") = 0,
      nb::arg("phase_cost_bytes") = default_phase_cost_bytes, nb::arg("topology").none() = nb::none(),
      nb::arg("prefer_pairs") = false, without_gil(),
      "Returns a schedule, and the time in seconds to make it. The same arguments give the same schedule on\n"
      "every platform. phase_cost_bytes is the cost of a phase in addition to its largest transfer, as the\n"
      "number of bytes that could be sent in this time; kpbs, bruck and distributed_coloring use it.\n"
      "Schedulers that guarantee link_free need a topology. If prefer_pairs is set, rs_nl puts messages in\n"
      "both directions between two ranks into the same phase. Raises nuice.Error for an unknown scheduler,\n"
      "and if the scheduler cannot handle the matrix.");
}

}  // namespace nuice::python
