// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market and schedule files. Paths may be str or os.PathLike.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "nuice/core/text_io.hpp"

namespace nuice::python {
namespace {

using Path = std::filesystem::path;

void register_record(nb::module_& module) {
  nb::class_<ScheduleRecord>(module, "ScheduleRecord",
                             "A schedule, together with the other contents of its file.")
      .def(
          "__init__",
          [](ScheduleRecord* self, const CommMatrix& matrix, Schedule schedule, std::string scheduler,
             std::uint64_t seed, const std::vector<std::string>& guarantees, std::string topology) {
            new (self) ScheduleRecord{std::move(scheduler),        seed,
                                      guarantee_flags(guarantees), matrix.fingerprint(),
                                      std::move(schedule),         std::move(topology)};
          },
          nb::arg("matrix"), nb::arg("schedule"), nb::arg("scheduler"), nb::arg("seed"),
          nb::arg("guarantees"), nb::arg("topology") = "")
      .def_ro("scheduler", &ScheduleRecord::scheduler)
      .def_ro("seed", &ScheduleRecord::seed)
      .def_prop_ro("guarantees", [](const ScheduleRecord& r) { return guarantee_list(r.guarantees); })
      .def_ro("matrix_fingerprint", &ScheduleRecord::matrix_fingerprint)
      .def_ro("topology", &ScheduleRecord::topology,
              "The name of the network on which link_free holds, or empty.")
      .def_prop_ro("schedule", [](const ScheduleRecord& r) { return r.schedule; });
}

}  // namespace

void register_files(nb::module_& module) {
  register_record(module);
  module.def(
      "load_matrix_market", [](const Path& path) { return load_matrix_market(path.string()); },
      nb::arg("path"), without_gil(),
      "Reads a Matrix Market file: row = sender, column = receiver, value = bytes. Raises nuice.Error with\n"
      "\"path:line: fault\".");
  module.def(
      "save_matrix_market",
      [](const Path& path, const CommMatrix& matrix, const std::string& comment) {
        save_matrix_market(path.string(), matrix, comment);
      },
      nb::arg("path"), nb::arg("matrix"), nb::arg("comment") = "", without_gil());
  module.def(
      "load_schedule",
      [](const Path& path, const CommMatrix& matrix) { return load_schedule(path.string(), matrix); },
      nb::arg("path"), nb::arg("matrix"), without_gil(),
      "Reads a schedule for this matrix. Raises nuice.Error if the schedule is for another matrix.");
  module.def(
      "save_schedule",
      [](const Path& path, const ScheduleRecord& record, const CommMatrix& matrix) {
        save_schedule(path.string(), record, matrix);
      },
      nb::arg("path"), nb::arg("record"), nb::arg("matrix"), without_gil());
}

}  // namespace nuice::python
