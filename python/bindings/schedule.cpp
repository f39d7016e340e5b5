// SPDX-License-Identifier: BSD-3-Clause
// Schedule and its parts. Python sees copies of transfers; a Schedule is immutable there.
#include "nuice/core/schedule.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nuice::python {
namespace {

/// A Transfer that owns its pieces: a view could outlive the schedule.
struct OwnedTransfer {
  Rank src;
  Rank dst;
  std::vector<Piece> pieces;
  std::int64_t path = no_path;
  Bytes bytes() const {
    Bytes sum = 0;
    for (const Piece& piece : pieces) sum += piece.bytes;
    return sum;
  }
  friend bool operator==(const OwnedTransfer&, const OwnedTransfer&) = default;
};

Schedule from_phases(Rank num_ranks, const std::vector<std::vector<OwnedTransfer>>& phases) {
  Schedule schedule(num_ranks);
  for (const auto& phase : phases) {
    schedule.begin_phase();
    for (const OwnedTransfer& transfer : phase) {
      schedule.add(transfer.src, transfer.dst, transfer.pieces, transfer.path);
    }
  }
  return schedule;
}

std::vector<OwnedTransfer> transfers(const Schedule& schedule, PhaseId phase) {
  if (phase >= schedule.num_phases()) throw nb::index_error("no phase has that number");
  std::vector<OwnedTransfer> result;
  for (const Transfer transfer : schedule.transfers(phase)) {
    result.push_back(
        {transfer.src, transfer.dst, {transfer.pieces.begin(), transfer.pieces.end()}, transfer.path});
  }
  return result;
}

IntTable transfer_table(const Schedule& schedule) {
  std::vector<std::int64_t> values;
  values.reserve(4 * schedule.num_transfers());
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer transfer : schedule.transfers(phase)) {
      values.insert(values.end(), {phase, transfer.src, transfer.dst, transfer.bytes()});
    }
  }
  return to_numpy<IntTable>(std::move(values), {schedule.num_transfers(), 4});
}

std::string repr(const Schedule& schedule) {
  return "<Schedule: " + std::to_string(schedule.num_ranks()) + " ranks, " +
         std::to_string(schedule.num_phases()) + " phases, " + std::to_string(schedule.num_transfers()) +
         " transfers>";
}

}  // namespace

void register_schedule(nb::module_& module) {
  nb::class_<Piece>(module, "Piece", "A byte range of a message: [offset, offset + bytes).")
      .def(
          "__init__",
          [](Piece* self, MessageId message, Bytes offset, Bytes bytes) {
            new (self) Piece{message, offset, bytes};
          },
          nb::arg("message"), nb::arg("offset"), nb::arg("bytes"))
      .def_ro("message", &Piece::message, "The id of the message in its CommMatrix.")
      .def_ro("offset", &Piece::offset)
      .def_ro("bytes", &Piece::bytes)
      .def(nb::self == nb::self);
  nb::class_<OwnedTransfer>(module, "Transfer",
                            "A transfer from src to dst, which carries one or more pieces of messages.")
      .def(
          "__init__",
          [](OwnedTransfer* self, Rank src, Rank dst, std::vector<Piece> pieces, std::int64_t path) {
            new (self) OwnedTransfer{src, dst, std::move(pieces), path};
          },
          nb::arg("src"), nb::arg("dst"), nb::arg("pieces"), nb::arg("path") = no_path)
      .def_ro("src", &OwnedTransfer::src)
      .def_ro("dst", &OwnedTransfer::dst)
      .def_ro("pieces", &OwnedTransfer::pieces)
      .def_ro("path", &OwnedTransfer::path, "The number of the path; -1: the network's own route.")
      .def_prop_ro("bytes", &OwnedTransfer::bytes, "The sum over the pieces.")
      .def(nb::self == nb::self);
  nb::class_<Schedule>(
      module, "Schedule",
      "A sequence of phases. The transfers of a phase may run at the same time. A Schedule is immutable.")
      .def_static(
          "from_phases", &from_phases, nb::arg("num_ranks"), nb::arg("phases"),
          "Makes a schedule from one list of Transfer objects per phase. Empty phases are left out. The\n"
          "schedule is not checked; call check().")
      .def_prop_ro("num_ranks", &Schedule::num_ranks)
      .def_prop_ro("num_phases", &Schedule::num_phases)
      .def_prop_ro("num_transfers", &Schedule::num_transfers)
      .def_prop_ro("num_pieces", &Schedule::num_pieces)
      .def_prop_ro("has_paths", &Schedule::has_paths, "Whether a transfer has a path.")
      .def("transfers", &transfers, nb::arg("phase"), "Returns the transfers of a phase, in order.")
      .def("transfer_table", &transfer_table,
           "Returns an array with one row (phase, src, dst, bytes) for each transfer.")
      .def(nb::self == nb::self)
      .def("__repr__", &repr);
  module.def("phase_bytes", &phase_bytes, nb::arg("schedule"), without_gil(),
             "Returns the sum of the largest transfers of all phases.");
}

}  // namespace nuice::python
