// SPDX-License-Identifier: BSD-3-Clause
// The packet-level simulator.
#include "nuice/plan/packets.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <utility>

#include "bindings.hpp"

namespace nuice::python {
namespace {

struct Choice {
  std::string executor;
  std::string queueing;
  std::optional<std::string> routing;
};

PacketRun run(const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
              const Choice& choice, const PacketOptions& numbers) {
  PacketOptions options = numbers;
  options.executor = choice.executor;
  options.queueing = find_queueing(choice.queueing);
  if (choice.routing) options.routing = find_routing(*choice.routing);
  const Interruptible interruptible;
  return simulate_packets(matrix, schedule, machine, options);
}

}  // namespace

void register_packets(nb::module_& module) {
  nb::class_<PacketRun>(
      module, "PacketRun",
      "The result of the packet-level simulator. Times are in slots; a slot is the time of a packet.")
      .def_ro("seconds", &PacketRun::seconds)
      .def_ro("slot_s", &PacketRun::slot_s)
      .def_ro("slots", &PacketRun::slots)
      .def_ro("port_bound_slots", &PacketRun::port_bound_slots)
      .def_ro("link_bound_slots", &PacketRun::link_bound_slots)
      .def_ro("packets", &PacketRun::packets)
      .def_ro("packet_hops", &PacketRun::packet_hops)
      .def_ro("virtual_lanes", &PacketRun::virtual_lanes)
      .def_ro("arrived_slots", &PacketRun::arrived_slots,
              "For each transfer, the time when its last packet arrived.")
      .def_prop_ro(
          "delivered", [](const PacketRun& r) { return to_numpy(r.delivered); }, nb::rv_policy::move,
          "For each message, the bytes that arrived.");
  module.def(
      "simulate_packets_on",
      [](const CommMatrix& matrix, const Schedule& schedule, const Machine& machine, std::string executor,
         std::string queueing, std::optional<std::string> routing, Bytes packet_bytes, int buffer_packets,
         std::uint64_t seed, Bytes early_bytes) {
        const PacketOptions numbers{.packet_bytes = packet_bytes,
                                    .buffer_packets = buffer_packets,
                                    .seed = seed,
                                    .early_bytes = early_bytes};
        return run(matrix, schedule, machine, {std::move(executor), std::move(queueing), std::move(routing)},
                   numbers);
      },
      nb::arg("matrix"), nb::arg("schedule"), nb::arg("machine"), nb::arg("executor") = "phased",
      nb::arg("queueing") = "fifo", nb::arg("routing") = nb::none(), nb::arg("packet_bytes") = 0,
      nb::arg("buffer_packets") = PacketOptions().buffer_packets, nb::arg("seed") = 0,
      nb::arg("early_bytes") = PacketOptions().early_bytes,
      "Runs a schedule packet by packet on a lossless network (docs/reference/machines.md).");
  module.def(
      "switch_throughput",
      [](int ports, const std::string& queueing, int slots, std::uint64_t seed) {
        return switch_throughput(ports, find_queueing(queueing), slots, seed);
      },
      nb::arg("ports"), nb::arg("queueing"), nb::arg("slots") = 20000, nb::arg("seed") = 1,
      "Returns the throughput of a saturated switch (Karol et al. 1987).");
}

}  // namespace nuice::python
