// SPDX-License-Identifier: BSD-3-Clause
#include "advise/candidates.hpp"

#include <algorithm>
#include <array>

#include "nuice/core/error.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice {
namespace advice {
bool forwards(std::string_view scheduler) {
  return scheduler != drs_n && (find_scheduler(scheduler).guarantees & direct) == 0;
}

namespace {

bool has_links(const Machine& machine) { return machine.topology->num_links() > 0; }

bool has_active_messages(const Machine& machine) {
  return machine.am_send_s + machine.am_latency_s + machine.am_handler_s > 0;
}

std::string_view suiting_executor(std::string_view scheduler, const Machine& machine) {
  if (scheduler == drs_n) return handshake;
  if (scheduler == "ac") return "async";
  return machine.duplex == Duplex::paired ? "pairwise" : "phased";
}

void require_executor(std::string_view scheduler, std::string_view executor) {
  const auto fail = [&](const std::string& reason) {
    throw Error(ErrorCode::invalid_argument,
                "candidate \"" + std::string(scheduler) + ":" + std::string(executor) + "\": " + reason);
  };
  if ((scheduler == drs_n) != (executor == handshake)) {
    if (scheduler == drs_n) fail("drs_n makes no schedule; its executor is handshake");
    if (executor == handshake) fail("handshake is the executor of drs_n only");
  }
  if (executor == handshake) return;
  if (executor != credit && !find_executor(executor)) {
    fail("unknown executor; known: async, phased, barrier, pairwise, credit, handshake");
  }
  if (forwards(scheduler) && (executor == credit || executor == "async")) {
    fail("it forwards messages, which needs phases (phased, barrier or pairwise)");
  }
}

/// What a message costs besides its bytes, as bytes that could be sent meanwhile.
Bytes phase_cost_bytes(const Machine& machine) {
  const double fixed_s = machine.phase_s + machine.send_overhead_s + machine.start_up_s + machine.latency_s +
                         machine.receive_overhead_s;
  return static_cast<Bytes>(std::min(fixed_s / machine.byte_s, 1e15));
}

constexpr std::array<std::string_view, 11> planned{
    "lp", "bex", "gs", "rs_n", "coloring", "coloring_by_size", "rs_nh", "birkhoff", "kpbs", "rex", "bruck"};
constexpr std::array<std::string_view, 3> link_free_ones{"rs_nl", "rs_nlh", "link_coloring"};

std::vector<std::string> with_phases(const Machine& machine, std::string_view executor) {
  std::vector<std::string> names{"ac:async", "coloring:async"};
  const std::string suffix = ":" + std::string(executor);
  for (const std::string_view name : planned) names.push_back(std::string(name) + suffix);
  if (has_links(machine)) {
    for (const std::string_view name : link_free_ones) names.push_back(std::string(name) + suffix);
  }
  names.emplace_back("coloring_by_size:barrier");
  for (const std::string_view name : {"rs_nh", "coloring", "coloring_by_size"})
    names.push_back(std::string(name) + ":" + std::string(credit));
  if (has_links(machine)) names.push_back("link_coloring:" + std::string(credit));
  return names;
}

}  // namespace

Candidate parse_candidate(std::string_view name, const Machine& machine) {
  const std::size_t colon = name.find(':');
  Candidate candidate;
  candidate.scheduler = name.substr(0, colon);
  if (candidate.scheduler != drs_n) find_scheduler(candidate.scheduler);
  candidate.executor = colon == std::string_view::npos ? suiting_executor(candidate.scheduler, machine)
                                                       : name.substr(colon + 1);
  require_executor(candidate.scheduler, candidate.executor);
  return candidate;
}

std::vector<Candidate> candidates_of(const AdviceOptions& options, const Machine& machine) {
  const std::vector<std::string> names =
      options.candidates.empty() ? all_candidates(machine) : options.candidates;
  std::vector<Candidate> candidates;
  for (const std::string& name : names) {
    Candidate candidate = parse_candidate(name, machine);
    const bool is_new = std::ranges::none_of(candidates, [&](const Candidate& other) {
      return other.scheduler == candidate.scheduler && other.executor == candidate.executor;
    });
    if (is_new) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Problem problem_of(const CommMatrix& matrix, const Machine& machine, std::uint64_t seed) {
  return {matrix, seed, phase_cost_bytes(machine), machine.topology.get(), machine.duplex == Duplex::paired};
}

std::string why_not(const Candidate& candidate, const Problem& problem, const Machine& machine) {
  if (candidate.scheduler != drs_n) return find_scheduler(candidate.scheduler).why_not(problem);
  return has_active_messages(machine) ? "" : "on this machine an active message takes no time";
}

}  // namespace advice

std::vector<std::string> all_candidates(const Machine& machine) {
  using namespace advice;
  const bool paired = machine.duplex == Duplex::paired;
  std::vector<std::string> names = with_phases(machine, paired ? "pairwise" : "phased");
  if (has_active_messages(machine)) names.push_back(std::string(drs_n) + ":" + std::string(handshake));
  return names;
}

std::vector<std::string> mpi_candidates(const Machine& machine) {
  return advice::with_phases(machine, "phased");
}

}  // namespace nuice
