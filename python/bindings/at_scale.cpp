// SPDX-License-Identifier: BSD-3-Clause
// Planning for ranks that know their own messages only.
#include "nuice/plan/at_scale.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nuice::python {
namespace {

using Progress = std::function<void(std::string, double)>;

ScaleReport plan(Rank num_ranks, Rank degree, const std::string& pattern, const std::string& sizes,
                 std::uint64_t seed, double changed, const Progress& progress) {
  const Interruptible interruptible;
  return plan_at_scale({num_ranks, degree, pattern, sizes, seed, changed},
                       [&](std::string_view step, double done) {
                         const nb::gil_scoped_acquire acquire;
                         progress(std::string(step), done);
                       });
}

void register_report(nb::module_& module) {
  nb::class_<ScaleName>(module, "ScaleName", "A pattern or a distribution of sizes.")
      .def_ro("name", &ScaleName::name)
      .def_ro("summary", &ScaleName::summary);
  nb::class_<ScaleRun>(module, "ScaleRun", "The result of one run of the rounds.")
      .def_ro("num_phases", &ScaleRun::num_phases)
      .def_ro("phase_bytes", &ScaleRun::phase_bytes)
      .def_ro("letters", &ScaleRun::letters, "The number of control messages of all ranks.")
      .def_ro("most_letters_of_a_rank", &ScaleRun::most_letters_of_a_rank)
      .def_prop_ro("num_rounds", [](const ScaleRun& run) { return run.rounds.size(); })
      .def_ro("seconds", &ScaleRun::seconds, "The time of all ranks in this process.")
      .def_ro("verified", &ScaleRun::verified, "Whether the distributed check found no fault.")
      .def_ro("violation", &ScaleRun::violation, "The first fault; empty if there is none.");
  nb::class_<ScaleReport>(module, "ScaleReport",
                          "The result of planning by ranks that know only their own messages.")
      .def_ro("num_ranks", &ScaleReport::num_ranks)
      .def_ro("num_messages", &ScaleReport::num_messages)
      .def_ro("max_degree", &ScaleReport::max_degree)
      .def_ro("whole_message_bytes", &ScaleReport::whole_message_bytes)
      .def_ro("plan", &ScaleReport::plan, nb::rv_policy::reference_internal)
      .def_ro("memory_per_rank_bytes", &ScaleReport::memory_per_rank_bytes, "The maximum memory of a rank.")
      .def_ro("process_bytes", &ScaleReport::process_bytes, "The maximum memory of this process.")
      .def_ro("num_changed", &ScaleReport::num_changed)
      .def_ro("follow", &ScaleReport::follow, nb::rv_policy::reference_internal);
}

}  // namespace

void register_at_scale(nb::module_& module) {
  register_report(module);
  module.def("scale_patterns", &scale_patterns, "Returns the names of the patterns.");
  module.def("scale_sizes", &scale_sizes, "Returns the names of the distributions of message sizes.");
  module.def(
      "plan_at_scale", &plan, nb::arg("num_ranks"), nb::arg("degree"), nb::arg("pattern"), nb::arg("sizes"),
      nb::arg("seed"), nb::arg("changed"), nb::arg("progress"),
      "Makes a plan with all ranks in this process. Calls progress(step, finished share) from time to time.\n"
      "Raises nuice.Error for unknown names, and for degrees that are impossible for the pattern.");
  module.def(
      "modelled_planning_s", &modelled_planning_s, nb::arg("report"), nb::arg("run"), nb::arg("machine"),
      "Returns the time, in seconds, that a machine would take for the rounds of a run, according to a\n"
      "model.");
}

}  // namespace nuice::python
