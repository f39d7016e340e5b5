// SPDX-License-Identifier: BSD-3-Clause
// The adviser. Predictions are names in Python; everything else is read by attribute.
#include "nuice/plan/advise.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nuice::python {
namespace {

Advice advise_with(const CommMatrix& matrix, const Machine& machine, std::uint64_t reuse,
                   const std::vector<std::string>& candidates, std::uint64_t seed,
                   const std::optional<std::string>& predict_by, const std::optional<double>& budget_s) {
  const AdviceOptions options{
      .reuse = reuse,
      .candidates = candidates,
      .seed = seed,
      .predict_by = predict_by ? std::optional(find_prediction(*predict_by)) : std::nullopt,
      .budget_s = budget_s};
  const Interruptible interruptible;
  return advise(matrix, machine, options);
}

void register_candidate(nb::module_& module) {
  nb::class_<Candidate>(module, "Candidate",
                        "The prediction for one scheduler with one executor. All times are in seconds.")
      .def_prop_ro("name", &Candidate::name, "The name, such as \"rs_n:phased\".")
      .def_ro("scheduler", &Candidate::scheduler)
      .def_ro("executor", &Candidate::executor)
      .def_ro("applicable", &Candidate::applicable)
      .def_prop_ro(
          "predicted_by", [](const Candidate& c) { return prediction_name(c.predicted_by); },
          "How the time was predicted: \"rule\" or \"simulation\".")
      .def_ro("phases", &Candidate::phases)
      .def_ro("phase_bytes", &Candidate::phase_bytes)
      .def_ro("planning_s", &Candidate::planning_s, "The time to make and check the schedule once, S.")
      .def_ro("exchange_s", &Candidate::exchange_s, "The time of one exchange, C.")
      .def_ro("total_s", &Candidate::total_s, "The total cost of an exchange, S / R + C.")
      .def_ro("to_bound", &Candidate::to_bound)
      .def_ro("uncertainty", &Candidate::uncertainty, "The relative error of exchange_s.")
      .def_ro("why_not", &Candidate::why_not,
              "Why this candidate is not chosen; empty for the chosen candidate.")
      .def("__repr__", [](const Candidate& c) { return "<Candidate " + c.name() + ">"; });
}

}  // namespace

void register_advise(nb::module_& module) {
  register_candidate(module);
  nb::class_<Advice>(module, "Advice",
                     "The best candidate, the costs of all candidates, and why the others are not chosen.")
      .def_ro("machine", &Advice::machine)
      .def_ro("topology", &Advice::topology)
      .def_ro("reuse", &Advice::reuse)
      .def_ro("seed", &Advice::seed)
      .def_ro("port_bound_s", &Advice::port_bound_s)
      .def_ro("link_bound_s", &Advice::link_bound_s)
      .def_ro("bound_s", &Advice::bound_s)
      .def_ro("phase_cost_bytes", &Advice::phase_cost_bytes)
      .def_ro("prefer_pairs", &Advice::prefer_pairs)
      .def_ro("candidates", &Advice::candidates, nb::rv_policy::reference_internal,
              "All candidates, the choice first.")
      .def_prop_ro("choice", &Advice::choice, nb::rv_policy::reference_internal)
      .def_prop_ro("num_contenders", &Advice::num_contenders,
                   "The number of candidates at the front of the list that may be the fastest: the chosen "
                   "candidate, and\n"
                   "candidates whose uncertainty range overlaps its range.")
      .def_prop_ro("decided_by", [](const Advice& a) { return prediction_name(a.decided_by); })
      .def_ro("deciding_s", &Advice::deciding_s, "The time of the decision, estimated from counted work.")
      .def_ro("budget_s", &Advice::budget_s)
      .def_ro("sentence", &Advice::sentence)
      .def("to_json", &to_json, "Returns one JSON object, as `nuice advise --json` prints it.")
      .def("to_text", &to_text, "Returns a table of all candidates with the reasons.")
      .def("__repr__",
           [](const Advice& a) { return "<Advice " + a.choice().name() + " on " + a.machine + ">"; });
  module.def("advise_on", &advise_with, nb::arg("matrix"), nb::arg("machine"), nb::arg("reuse"),
             nb::arg("candidates"), nb::arg("seed"), nb::arg("predict_by").none(), nb::arg("budget_s").none(),
             "Predicts the candidates and chooses; nuice.advise has the defaults.");
  module.def("advised_schedule", &advised_schedule, nb::arg("matrix"), nb::arg("machine"), nb::arg("advice"),
             without_gil(), "The choice's schedule.");
  module.def("all_candidates", &all_candidates, nb::arg("machine"),
             "Returns the candidates that can be simulated on the machine.");
  module.def("mpi_candidates", &mpi_candidates, nb::arg("machine"),
             "Returns the candidates that plans on MPI can carry out.");
  module.def(
      "planning_cost_s",
      [](const CommMatrix& matrix, const std::string& scheduler, const std::optional<Machine>& machine) {
        return planning_cost_s(matrix, scheduler, machine ? machine->topology.get() : nullptr);
      },
      nb::arg("matrix"), nb::arg("scheduler"), nb::arg("machine") = nb::none(),
      "Returns the estimated seconds to make a schedule, without checking it.");
}

}  // namespace nuice::python
