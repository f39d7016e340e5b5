// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts: the table of algorithms, their steps, and the checker of these.
#include "nuice/core/broadcast.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "nuice/plan/broadcaster.hpp"

namespace nuice::python {
namespace {

using Steps = std::vector<std::vector<std::pair<Rank, Rank>>>;

Steps steps_of(const BroadcastSchedule& schedule) {
  Steps steps;
  for (const auto& copies : schedule.steps) {
    auto& step = steps.emplace_back();
    for (const auto& [src, dst] : copies) step.emplace_back(src, dst);
  }
  return steps;
}

BroadcastSchedule from_steps(Rank num_ranks, Rank root, const Steps& steps) {
  BroadcastSchedule schedule{num_ranks, root};
  for (const auto& copies : steps) {
    auto& step = schedule.steps.emplace_back();
    for (const auto& [src, dst] : copies) step.push_back({src, dst});
  }
  return schedule;
}

BroadcastSchedule make(const std::string& name, Rank num_ranks, Rank root,
                       const std::optional<std::vector<Rank>>& group) {
  return group ? make_broadcast(name, num_ranks, root, *group) : make_broadcast(name, num_ranks, root);
}

std::vector<const Broadcaster*> all_broadcasters() {
  std::vector<const Broadcaster*> rows;
  for (const Broadcaster& row : broadcasters()) rows.push_back(&row);
  return rows;
}

}  // namespace

void register_broadcast(nb::module_& module) {
  nb::class_<Broadcaster>(module, "Broadcaster", "A registry entry: a broadcast algorithm.")
      .def_ro("name", &Broadcaster::name)
      .def_ro("summary", &Broadcaster::summary, "A one-line description.")
      .def_ro("source", &Broadcaster::source, "The paper and figure that describe it.");
  nb::class_<BroadcastSchedule>(module, "BroadcastSchedule",
                                "A broadcast: steps of copies of one message from a root to many ranks.")
      .def(nb::new_(&from_steps), nb::arg("num_ranks"), nb::arg("root"), nb::arg("steps"))
      .def_ro("num_ranks", &BroadcastSchedule::num_ranks)
      .def_ro("root", &BroadcastSchedule::root)
      .def_prop_ro("steps", &steps_of, "For each step, its pairs (src, dst).")
      .def(
          "__eq__", [](const BroadcastSchedule& a, const BroadcastSchedule& b) { return a == b; },
          nb::is_operator());
  module.def("broadcasters", &all_broadcasters, nb::rv_policy::reference,
             "Returns all entries, in a fixed order.");
  module.def(
      "make_broadcast", &make, nb::arg("name"), nb::arg("num_ranks"), nb::arg("root") = 0,
      nb::arg("group") = nb::none(),
      "Makes a broadcast from root to all ranks or, if `group` is given, to the ranks of the group. Raises\n"
      "nuice.Error for an unknown name, a root or member that is not a rank, or a member given twice.");
  module.def(
      "check_broadcast",
      [](const BroadcastSchedule& schedule, const std::vector<Rank>& group) {
        return check_broadcast(schedule, group);
      },
      nb::arg("schedule"), nb::arg("group"),
      "Returns one sentence on the first fault, or None if the broadcast is correct. It is correct if every\n"
      "rank of the group gets the message exactly once, from a rank that had it before, and no rank sends\n"
      "or receives twice in a step.");
}

}  // namespace nuice::python
