// SPDX-License-Identifier: BSD-3-Clause
// Schedules that follow their matrix.
#include "nuice/plan/dynamic_schedule.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nuice::python {
namespace {

Update apply_triples(DynamicSchedule& live, const std::vector<Triple>& changes) {
  const std::vector<Message> messages = to_messages(changes);
  const nb::gil_scoped_release release;
  return live.apply(messages);
}

Update apply_arrays(DynamicSchedule& live, const InputArray& src, const InputArray& dst,
                    const InputArray& bytes) {
  const std::vector<Message> messages = to_messages(src, dst, bytes);
  const nb::gil_scoped_release release;
  return live.apply(messages);
}

std::string repr(const DynamicSchedule& live) {
  return "<DynamicSchedule: " + std::to_string(live.num_ranks()) + " ranks, " +
         std::to_string(live.num_phases()) + " phases, " + std::to_string(live.num_messages()) + " messages>";
}

void register_views(nb::class_<DynamicSchedule>& live) {
  live.def_prop_ro("num_ranks", &DynamicSchedule::num_ranks)
      .def_prop_ro("num_messages", &DynamicSchedule::num_messages)
      .def_prop_ro("max_degree", &DynamicSchedule::max_degree)
      .def_prop_ro("num_phases", &DynamicSchedule::num_phases)
      .def_prop_ro("phases_above_max_degree", &DynamicSchedule::phases_above_max_degree,
                   "0 unless removals lowered the maximum degree and not all has moved down since.")
      .def("check_changes", &DynamicSchedule::check_changes, without_gil(),
           "Checks what the last change did, and only that: the first Violation, or None.\n"
           "check(live.matrix(), live.schedule(matrix)) is for all of it.")
      .def("changed_ranks", &DynamicSchedule::changed_ranks,
           "Ranks whose table the last change may have altered, ascending.")
      .def("table", &DynamicSchedule::table, nb::arg("rank"),
           "The phase table of one rank now, without going over the others.")
      .def("matrix", &DynamicSchedule::matrix, without_gil(), "What has become of the matrix. O(messages).")
      .def("schedule", &DynamicSchedule::schedule, nb::arg("matrix"), without_gil(),
           "What has become of the schedule; matrix must equal matrix(). O(messages).")
      .def("__repr__", &repr);
}

}  // namespace

void register_update(nb::module_& module) {
  nb::class_<Update>(module, "Update", "What a batch of changes came to, in messages.")
      .def_ro("added", &Update::added)
      .def_ro("removed", &Update::removed)
      .def_ro("resized", &Update::resized, "Messages that stay in their phase.")
      .def_ro("moved", &Update::moved, "Changes of phase of messages that stay.")
      .def_ro("planned_anew", &Update::planned_anew,
              "Paths had become more expensive than planning all again.")
      .def(nb::self == nb::self)
      .def("__repr__", [](const Update& u) {
        return "<Update: " + std::to_string(u.added) + " added, " + std::to_string(u.removed) + " removed, " +
               std::to_string(u.resized) + " resized, " + std::to_string(u.moved) + " moved>";
      });
  nb::class_<DynamicSchedule> live(
      module, "DynamicSchedule",
      "A schedule that follows its matrix, at a cost that grows with the change; still max-degree phases.\n\n"
      "Takes a direct one-port schedule of whole messages, such as coloring makes; raises nuice.Error for\n"
      "others. When removals lower the maximum degree, each change moves a few messages down from the "
      "phases\n"
      "above it; compact() moves all.");
  live.def(nb::init<const CommMatrix&, const Schedule&>(), nb::arg("matrix"), nb::arg("schedule"))
      .def("apply", &apply_triples, nb::arg("changes"),
           "Each (src, dst, bytes) gives a message its new size; 0 for no message. Raises nuice.Error, with\n"
           "nothing changed, for a bad rank or size, a pair given twice, or sums above MAX_BYTES.")
      .def("apply_arrays", &apply_arrays, nb::arg("src").noconvert(), nb::arg("dst").noconvert(),
           nb::arg("bytes").noconvert(), "As apply, from three int64 arrays of equal length.")
      .def("set", &DynamicSchedule::set, nb::arg("src"), nb::arg("dst"), nb::arg("bytes"),
           "apply() of one entry.")
      .def("compact", &DynamicSchedule::compact, nb::call_guard<nb::gil_scoped_release>(),
           "As many phases as the maximum degree now. Returns the number of messages moved.");
  register_views(live);
}

}  // namespace nuice::python
