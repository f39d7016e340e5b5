// SPDX-License-Identifier: BSD-3-Clause
// The communication phase table: one rank's slice of a schedule.
#include "nuice/core/phase_table.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nuice::python {

namespace {

nb::object range_of(PartRange parts) {
  return nb::module_::import_("builtins")
      .attr("range")(parts.begin, std::uint64_t{parts.begin} + parts.count);
}

}  // namespace

void register_phase_table(nb::module_& module) {
  nb::class_<Part>(module, "Part",
                   "A byte range of the message from src to dst that is a part of a transfer.")
      .def_ro("src", &Part::src)
      .def_ro("dst", &Part::dst)
      .def_ro("offset", &Part::offset)
      .def_ro("bytes", &Part::bytes)
      .def(nb::self == nb::self);
  nb::class_<PhaseEntry>(
      module, "PhaseEntry",
      "An entry of a phase table. Offsets count from the start of the buffer for the partner. If\n"
      "send_partner or recv_partner is NO_RANK, nothing is sent or received.")
      .def_ro("phase", &PhaseEntry::phase)
      .def_ro("send_partner", &PhaseEntry::send_partner)
      .def_ro("send_bytes", &PhaseEntry::send_bytes)
      .def_ro("send_offset", &PhaseEntry::send_offset)
      .def_ro("recv_partner", &PhaseEntry::recv_partner)
      .def_ro("recv_bytes", &PhaseEntry::recv_bytes)
      .def_ro("recv_offset", &PhaseEntry::recv_offset)
      .def_prop_ro(
          "send_parts", [](const PhaseEntry& entry) { return range_of(entry.send_parts); },
          nb::sig("def send_parts(self) -> range"),
          "Which of the table's parts the send carries; empty if it is the message to send_partner "
          "itself.")
      .def_prop_ro(
          "recv_parts", [](const PhaseEntry& entry) { return range_of(entry.recv_parts); },
          nb::sig("def recv_parts(self) -> range"),
          "Which of the table's parts the receive carries; empty if it is the message from recv_partner "
          "itself.")
      .def(nb::self == nb::self);
  nb::class_<Partner>(
      module, "Partner",
      "A rank to which a message is sent or from which it is received, and the size of the message.")
      .def_ro("rank", &Partner::rank)
      .def_ro("bytes", &Partner::bytes)
      .def(nb::self == nb::self);
  nb::class_<PhaseTable>(module, "PhaseTable", "One rank's slice of a schedule.")
      .def_ro("rank", &PhaseTable::rank)
      .def_ro("num_ranks", &PhaseTable::num_ranks)
      .def_ro("num_phases", &PhaseTable::num_phases)
      .def_ro("destinations", &PhaseTable::destinations,
              "The ranks to which this rank sends, ascending, including itself.")
      .def_ro("sources", &PhaseTable::sources,
              "The ranks that send to this rank, ascending, including itself.")
      .def_ro("entries", &PhaseTable::entries, "The transfers by ascending phase.")
      .def_ro("parts", &PhaseTable::parts, "The parts of all entries; empty if nothing is forwarded.")
      .def_prop_ro("staged_bytes", &staged_bytes,
                   "The bytes that the rank stages for other ranks during an exchange.")
      .def(nb::self == nb::self);
  module.def(
      "slice",
      [](const CommMatrix& matrix, const Schedule& schedule, Rank rank) {
        require_rank(rank, matrix.num_ranks());
        return slice(matrix, schedule, rank);
      },
      nb::arg("matrix"), nb::arg("schedule"), nb::arg("rank"), without_gil(),
      "Returns the phase table of one rank. Raises nuice.Error if the schedule sends bytes back to their\n"
      "source, or forwards bytes from their destination.");
  module.def("slice_all", &slice_all, nb::arg("matrix"), nb::arg("schedule"), without_gil(),
             "Returns the phase tables of all ranks, in one pass.");
}

}  // namespace nuice::python
