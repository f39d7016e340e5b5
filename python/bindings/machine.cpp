// SPDX-License-Identifier: BSD-3-Clause
// Machines, executors and the simulator. Activities are names in Python.
#include "nuice/plan/machine.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <utility>

#include "bindings.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/networks.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice::python {
namespace {

/// As nuice/core/executor.hpp lists them.
constexpr std::array pace_names = {"at_once", "phases", "pairs", "notices", "inquiries"};

using FloatTable = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

/// Calls visit(name, member) for every number of a machine.
template <typename Visit>
void for_each_number(Visit visit) {
  for (const auto& [name, member] : std::initializer_list<std::pair<const char*, double Machine::*>>{
           {"start_up_s", &Machine::start_up_s},
           {"latency_s", &Machine::latency_s},
           {"hop_s", &Machine::hop_s},
           {"handshake_s", &Machine::handshake_s},
           {"send_overhead_s", &Machine::send_overhead_s},
           {"receive_overhead_s", &Machine::receive_overhead_s},
           {"post_receive_s", &Machine::post_receive_s},
           {"async_send_s", &Machine::async_send_s},
           {"phase_s", &Machine::phase_s},
           {"idle_phase_s", &Machine::idle_phase_s},
           {"barrier_s", &Machine::barrier_s},
           {"barrier_level_s", &Machine::barrier_level_s},
           {"byte_s", &Machine::byte_s},
           {"loss_per_sender", &Machine::loss_per_sender},
           {"loss_most", &Machine::loss_most},
           {"loss_per_sender_sending", &Machine::loss_per_sender_sending},
           {"loss_most_sending", &Machine::loss_most_sending},
           {"timeout_s", &Machine::timeout_s},
           {"copy_byte_s", &Machine::copy_byte_s},
           {"memory_slowdown", &Machine::memory_slowdown},
           {"am_send_s", &Machine::am_send_s},
           {"am_latency_s", &Machine::am_latency_s},
           {"am_handler_s", &Machine::am_handler_s},
           {"am_retry_s", &Machine::am_retry_s},
           {"am_entry_s", &Machine::am_entry_s},
           {"exchange_saves_s", &Machine::exchange_saves_s},
           {"control_word_s", &Machine::control_word_s},
           {"control_sum_s", &Machine::control_sum_s},
           {"planning_slowdown", &Machine::planning_slowdown},
           {"worst_check", &Machine::worst_check}}) {
    visit(name, member);
  }
  visit("sends_at_once", &Machine::sends_at_once);
  visit("receives_at_once", &Machine::receives_at_once);
  visit("queue_senders", &Machine::queue_senders);
  visit("queue", &Machine::queue);
  visit("eager_limit", &Machine::eager_limit);
  visit("packet_payload", &Machine::packet_payload);
  visit("packet_header", &Machine::packet_header);
  visit("buffer_limit", &Machine::buffer_limit);
  visit("memory_limit", &Machine::memory_limit);
  visit("copies_parts", &Machine::copies_parts);
  visit("async_copies", &Machine::async_copies);
  visit("lossless", &Machine::lossless);
  visit("holds_while_waiting", &Machine::holds_while_waiting);
  visit("processor_moves_bytes", &Machine::processor_moves_bytes);
}

void set_field(Machine& machine, const std::string& field, nb::handle value) {
  if (field == "duplex") return void(machine.duplex = find_duplex(nb::cast<std::string>(value)));
  if (field == "switching") return void(machine.switching = find_switching(nb::cast<std::string>(value)));
  if (field == "routing") return void(machine.routing = find_routing(nb::cast<std::string>(value)));
  if (field == "topology") return void(machine.topology = make_topology(nb::cast<std::string>(value)));
  if (field == "name") return void(machine.name = nb::cast<std::string>(value));
  bool found = false;
  for_each_number([&](const char* name, auto member) {
    if (field != name) return;
    machine.*member = nb::cast<std::remove_reference_t<decltype(machine.*member)>>(value);
    found = true;
  });
  if (!found) throw Error(ErrorCode::invalid_argument, "a machine has no field '" + field + "'");
}

Machine replace(const Machine& machine, const nb::kwargs& fields) {
  Machine changed = machine;
  for (const auto [name, value] : fields) set_field(changed, nb::cast<std::string>(name), value);
  require_valid(changed);
  return changed;
}

void register_machine_class(nb::module_& module) {
  nb::class_<Machine> machine(
      module, "Machine", "A network, and the costs of sending messages on it (docs/reference/machines.md).");
  machine.def_ro("name", &Machine::name)
      .def_ro("summary", &Machine::summary)
      .def_prop_ro("topology", [](const Machine& m) { return m.topology->name(); })
      .def_ro("grows", &Machine::grows, "Whether grown() can enlarge the network.")
      .def("grown", &grown, nb::arg("ranks"), nb::arg("ranks_per_host") = 1,
           "Returns the machine for `ranks` ranks. If the machine can grow, its network is enlarged.")
      .def_prop_ro("num_ranks", [](const Machine& m) { return m.topology->num_ranks(); })
      .def_prop_ro("duplex", [](const Machine& m) { return duplex_name(m.duplex); })
      .def_prop_ro("switching", [](const Machine& m) { return switching_name(m.switching); })
      .def_prop_ro("routing", [](const Machine& m) { return routing_name(m.routing); })
      .def("replace", &replace, nb::arg("fields"),
           "Returns a copy with other values: machine.replace(start_up_s=1e-6).")
      .def("__repr__",
           [](const Machine& m) { return "<Machine " + m.name + ": " + m.topology->name() + ">"; });
  for_each_number([&](const char* name, auto member) { machine.def_ro(name, member); });
}

void register_machines(nb::module_& module) {
  register_machine_class(module);
  module.def("concatenation_s", &concatenation_s, nb::arg("machine"), nb::arg("ranks"),
             "Returns the time, in seconds, until every rank has the whole matrix of words (004 s.3).");
  module.def(
      "discovery_s", &discovery_s, nb::arg("machine"), nb::arg("ranks"), nb::arg("degree"),
      "Returns the time, in seconds, until every rank knows its senders, if every rank sends `degree`\n"
      "messages (004 fig. 1).");
  module.def("control_broadcast_s", &control_broadcast_s, nb::arg("machine"), nb::arg("num_bytes"),
             "Returns the time, in seconds, of a broadcast by the control network; 0 if there is no control\n"
             "network.");
  module.def("calibrated_machine_path", &calibrated_machine_path, nb::arg("one_host"),
             "Returns the path of the file that `nuice-calibrate --save` writes; empty if there is no home\n"
             "directory.");
  module.def(
      "find_machine", [](std::string_view name) { return find_machine(name); }, nb::arg("name"),
      "Returns the shipped machine with this name or, if the name is that of a file NAME.toml, the machine\n"
      "in this file.");
  module.def(
      "find_machine",
      [](std::string_view name, Rank ranks, Rank ranks_per_host) {
        return find_machine(name, ranks, ranks_per_host);
      },
      nb::arg("name"), nb::arg("ranks"), nb::arg("ranks_per_host") = 1,
      "Returns the machine for `ranks` ranks; if it can grow, its network is enlarged (Machine.grown).");
  module.def(
      "load_machine", [](const std::filesystem::path& path) { return load_machine(path.string()); },
      nb::arg("path"), "Reads a machine from a file. Raises nuice.Error with \"path:line: fault\".");
  module.def("parse_machine", &parse_machine, nb::arg("text"), nb::arg("name"),
             "Reads a machine from TOML text.");
  module.def(
      "machine_names",
      [] {
        std::vector<std::string> names;
        for (const ShippedMachine& machine : shipped_machines()) names.emplace_back(machine.name);
        return names;
      },
      "Returns the names of the shipped machines.");
}

FloatTable interval_times(const Simulation& run) {
  auto times = std::make_unique<std::vector<double>>();
  for (const Interval& i : run.timeline) times->insert(times->end(), {i.begin_s, i.end_s});
  double* data = times->data();
  const nb::capsule owner(times.release(),
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return FloatTable(data, {run.timeline.size(), 2}, owner);
}

IntTable interval_table(const Simulation& run) {
  std::vector<std::int64_t> values;
  for (const Interval& i : run.timeline) {
    values.insert(values.end(), {i.rank, static_cast<std::int64_t>(i.activity), i.peer, i.bytes, i.phase});
  }
  return to_numpy<IntTable>(std::move(values), {run.timeline.size(), 5});
}

void register_results(nb::module_& module) {
  nb::class_<RankTimes>(module, "RankTimes", "The times of a rank in a simulation, in seconds.")
      .def_ro("finished_s", &RankTimes::finished_s)
      .def_ro("software_s", &RankTimes::software_s)
      .def_ro("waiting_s", &RankTimes::waiting_s, "The time for which the processor waits.")
      .def_ro("blocked_s", &RankTimes::blocked_s,
              "The time for which the send port waits for links or the receiver.")
      .def_ro("idle_s", &RankTimes::idle_s,
              "The time without software and without bytes in either direction.")
      .def_ro("sent_bytes", &RankTimes::sent_bytes)
      .def_ro("received_bytes", &RankTimes::received_bytes);
  nb::class_<Simulation>(module, "Simulation",
                         "The time that a schedule takes on a machine, and how the time is spent.")
      .def_ro("seconds", &Simulation::seconds)
      .def_ro("ranks", &Simulation::ranks, "RankTimes by rank.")
      .def_ro("transfers", &Simulation::transfers)
      .def_ro("node_contention", &Simulation::node_contention, "Transfers that found the receiver in use.")
      .def_ro("link_contention", &Simulation::link_contention, "Transfers that found a link full.")
      .def_ro("timeouts", &Simulation::timeouts)
      .def_ro("inquiries", &Simulation::inquiries)
      .def_ro("refusals", &Simulation::refusals)
      .def_prop_ro(
          "delivered", [](const Simulation& run) { return to_numpy(run.delivered); }, nb::rv_policy::move,
          "Bytes delivered, by message.")
      .def("interval_times", &interval_times,
           "Returns the begin and the end, in seconds, of each interval of the timeline.")
      .def(
          "interval_table", &interval_table,
          "Returns rank, activity (an index into ACTIVITIES), peer, bytes and phase of each interval of the\n"
          "timeline.");
}

std::vector<const Executor*> all_executors() {
  std::vector<const Executor*> rows;
  for (const Executor& row : executors()) rows.push_back(&row);
  return rows;
}

void register_executors(nb::module_& module) {
  nb::class_<Executor>(module, "Executor", "A registry entry: an executor.")
      .def_ro("name", &Executor::name)
      .def_ro("summary", &Executor::summary, "A one-line description.")
      .def_ro("source", &Executor::source, "The paper and section that describe it.")
      .def_prop_ro(
          "needs", [](const Executor& e) { return guarantee_list(e.needs); },
          "The guarantees that it needs from a schedule.")
      .def_ro("on_mpi", &Executor::on_mpi, "Whether plans on MPI can use it.")
      .def_prop_ro(
          "pace", [](const Executor& row) { return pace_names[static_cast<std::size_t>(row.pace)]; },
          "What a rank waits for: at_once, phases, pairs, notices or inquiries.")
      .def_prop_ro("is_simulated", &Executor::is_simulated)
      .def_prop_ro("needs_schedule", &Executor::needs_schedule)
      .def_ro("without_scheduler", &Executor::without_scheduler,
              "The word that replaces the scheduler's name if it needs no schedule.")
      .def("__repr__", [](const Executor& e) { return "<Executor " + std::string(e.name) + ">"; });
  module.def("executors", &all_executors, nb::rv_policy::reference, "Returns all entries, in a fixed order.");
  module.def(
      "find_executor", &find_executor, nb::arg("name"), nb::rv_policy::reference,
      "Returns the entry with that name. Raises nuice.Error for an unknown name; the text lists the known\n"
      "names.");
}

}  // namespace

void register_machine(nb::module_& module) {
  register_machines(module);
  register_results(module);
  register_executors(module);
  module.attr("ACTIVITIES") = nb::make_tuple("software", "waiting", "sending", "blocked", "receiving");
  module.def(
      "simulate_schedule",
      [](const CommMatrix& matrix, const Schedule& schedule, const Machine& machine,
         const std::string& executor, bool blocking_sends, bool timeline) {
        const SimulationOptions options{executor, blocking_sends, timeline};
        const Interruptible interruptible;
        return simulate(matrix, schedule, machine, options);
      },
      nb::arg("matrix"), nb::arg("schedule"), nb::arg("machine"), nb::arg("executor") = "phased",
      nb::arg("blocking_sends") = true, nb::arg("timeline") = false,
      "Runs a schedule on a machine, with an executor that is_simulated.");
  module.def(
      "simulate_drs_n_on",
      [](const CommMatrix& matrix, const Machine& machine, std::uint64_t seed,
         std::optional<double> retry_delay_s, bool timeline) {
        const DrsOptions options{seed, retry_delay_s, timeline};
        const Interruptible interruptible;
        return simulate_drs_n(matrix, machine, options);
      },
      nb::arg("matrix"), nb::arg("machine"), nb::arg("seed") = 0, nb::arg("retry_delay_s") = nb::none(),
      nb::arg("timeline") = false, "Runs the handshaking DRS_N (004 fig. 5), which needs no schedule.");
  module.def(
      "port_bound_s", &port_bound_s, nb::arg("matrix"), nb::arg("machine"),
      "Returns a lower bound, in seconds, on the time of any execution, computed from the busiest port.");
  module.def(
      "link_bound_s", &link_bound_s, nb::arg("matrix"), nb::arg("machine"),
      "Returns a lower bound, in seconds, on the time of direct schedules, computed from the busiest link.");
}

}  // namespace nuice::python
