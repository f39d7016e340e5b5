// SPDX-License-Identifier: BSD-3-Clause
#include "advise/candidates.hpp"

#include <algorithm>

#include "core/support/table.hpp"
#include "nuice/core/error.hpp"

namespace nuice {
namespace advice {
namespace {

bool has_active_messages(const Machine& machine) {
  return machine.am_send_s + machine.am_latency_s + machine.am_handler_s > 0;
}

/// Returns the pace of executors with phases. This is Pace::pairs if the machine's ports work in pairs and
/// there is such an executor.
Pace pace_of_phases(const Machine& machine, bool on_mpi) {
  const bool has_pairs = std::ranges::any_of(
      executors(), [&](const Executor& e) { return e.pace == Pace::pairs && (e.on_mpi || !on_mpi); });
  return machine.duplex == Duplex::paired && has_pairs ? Pace::pairs : Pace::phases;
}

/// Returns whether a scheduler is tried with an executor on this machine. On lossless machines phases save no
/// time: ranks wait for each other, but links are still shared. Links can be kept free only if the routes of
/// messages are known.
bool is_tried_on(const Scheduler& scheduler, const Executor& executor, const Machine& machine) {
  if (scheduler.needs_topology() && machine.routing != Routing::table) return false;
  if (executor.pace == Pace::notices) return machine.lossless;
  return !machine.lossless || !executor.has_phases() || (scheduler.guarantees & direct) == 0;
}

bool is_tried(const Scheduler& scheduler, const Executor& executor, Pace phases) {
  if (!scheduler.alias_of.empty() || !executor.carries_out(scheduler.guarantees)) return false;
  const bool in_phases = executor.pace == Pace::phases || executor.pace == Pace::pairs;
  if (in_phases && executor.pace != phases) return false;
  // Ranks that meet in pairs would wait for each other forever.
  if (executor.pace == Pace::pairs && (scheduler.guarantees & one_port) == 0) return false;
  return (*scheduler.tried_with).contains(in_phases ? Pace::phases : executor.pace);
}

std::vector<Entry> all_entries(const Machine& machine, bool on_mpi) {
  const Pace phases = pace_of_phases(machine, on_mpi);
  const bool has_links = machine.topology->num_links() > 0;
  std::vector<Entry> entries;
  for (const Executor& executor : executors()) {
    if (on_mpi && !executor.on_mpi) continue;
    if (!executor.needs_schedule() && has_active_messages(machine)) entries.emplace_back(nullptr, executor);
    for (const Scheduler& scheduler : schedulers()) {
      if (scheduler.needs_topology() && !has_links) continue;
      if (!is_tried_on(scheduler, executor, machine)) continue;
      if (is_tried(scheduler, executor, phases)) entries.emplace_back(&scheduler, executor);
    }
  }
  return entries;
}

const Executor& executor_with(Pace pace) { return *std::ranges::find(executors(), pace, &Executor::pace); }

/// Returns the executor for a scheduler if the user names only the scheduler.
const Executor& suiting_executor(const Scheduler& scheduler, const Machine& machine) {
  const Paces tried = scheduler.tried_with;
  if (tried.contains(Pace::phases)) return executor_with(pace_of_phases(machine, false));
  if (tried.contains(Pace::notices)) return executor_with(Pace::notices);
  return executor_with(tried.contains(Pace::at_once) ? Pace::at_once : pace_of_phases(machine, false));
}

/// Parses "rs_n:async", or "rs_n" without an executor. In the latter case takes the executor that suits the
/// machine. Throws Error `invalid_argument`.
Entry parse(std::string_view name, const Machine& machine) {
  const auto fail = [&](const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, "candidate \"" + std::string(name) + "\": " + reason);
  };
  const std::size_t colon = name.find(':');
  const std::string_view scheduler = name.substr(0, colon);
  const Executor* executor =
      colon == std::string_view::npos ? nullptr : &find_executor(name.substr(colon + 1));
  const auto without = std::ranges::find(executors(), scheduler, &Executor::without_scheduler);
  if (without != executors().end() && !scheduler.empty()) {
    if (executor != nullptr && executor != &*without)
      fail(std::string(scheduler) + " makes no schedule; its executor is " + std::string(without->name));
    return Entry(nullptr, *without);
  }
  const Scheduler& row = find_scheduler(scheduler);
  if (executor == nullptr) executor = &suiting_executor(row, machine);
  if (!executor->needs_schedule())
    fail(std::string(executor->name) + " is the executor of " + std::string(executor->without_scheduler) +
         " only");
  if (!executor->carries_out(row.guarantees))
    fail(std::string(executor->name) + " needs schedules that are " + guarantee_names(executor->needs) +
         "; those of " + std::string(row.name) + " are not (it forwards messages, which needs phases)");
  return Entry(&row, *executor);
}

/// Whether both are the same algorithm with the same executor.
bool are_same(const Entry& a, const Entry& b) {
  const auto first_name = [](const Entry& e) {
    return e.planner == nullptr || e.planner->alias_of.empty() ? std::string_view(e.scheduler)
                                                               : e.planner->alias_of;
  };
  return a.runner == b.runner && first_name(a) == first_name(b);
}

std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name());
  return names;
}

/// Returns what a message costs in addition to its bytes, as the number of bytes that could be sent in that
/// time.
Bytes phase_cost_bytes(const Machine& machine) {
  const double fixed_s = machine.phase_s + machine.send_overhead_s + machine.start_up_s + machine.latency_s +
                         machine.receive_overhead_s;
  const double packets = machine.packet_payload == 0 ? 1
                                                     : 1 + static_cast<double>(machine.packet_header) /
                                                               static_cast<double>(machine.packet_payload);
  return static_cast<Bytes>(std::min(fixed_s / (machine.byte_s * packets), 1e15));
}

}  // namespace

std::vector<Entry> candidates_of(const AdviceOptions& options, const Machine& machine) {
  if (options.candidates.empty()) return all_entries(machine, false);
  std::vector<Entry> entries;
  for (const std::string& name : options.candidates) {
    Entry entry = parse(name, machine);
    if (std::ranges::none_of(entries, [&](const Entry& other) { return are_same(entry, other); }))
      entries.push_back(std::move(entry));
  }
  return entries;
}

Problem problem_of(const CommMatrix& matrix, const Machine& machine, std::uint64_t seed) {
  return {matrix, seed, phase_cost_bytes(machine), machine.topology.get(), machine.duplex == Duplex::paired};
}

std::string why_not(const Entry& candidate, const Problem& problem, const Machine& machine) {
  if (candidate.planner != nullptr) return candidate.planner->why_not(problem);
  return has_active_messages(machine) ? "" : "on this machine an active message takes no time";
}

}  // namespace advice

std::vector<std::string> all_candidates(const Machine& machine) {
  return advice::names_of(advice::all_entries(machine, false));
}

std::vector<std::string> mpi_candidates(const Machine& machine) {
  return advice::names_of(advice::all_entries(machine, true));
}

}  // namespace nuice
