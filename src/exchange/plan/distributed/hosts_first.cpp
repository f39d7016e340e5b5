// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/distributed/hosts_first.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/text/names.hpp"
#include "exchange/plan/distributed/coloring.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/host_ranks.hpp"
#include "schedulers/derived/idle_phases.hpp"

namespace nuice::mpi {
namespace {

using namespace distributed;

/// A host, and who speaks for it.
struct Speaker {
  Rank host;
  Rank rank;
};

/// What a rank tells its speaker of one message.
struct Line {
  Rank partner;
  Speaker speaker;  // the partner's
  Bytes bytes;
  bool is_receive;
};

/// Collective. Of every partner. Partners that are written to learn this rank's and answer with theirs.
std::vector<Speaker> ask(const LocalProblem& problem, std::span<const Rank> partners, const Speaker& mine) {
  SparseExchange::Box box;
  for (const Rank partner : partners) box.add(partner, bytes_of(std::span(&mine, 1)));
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox = problem.sparse.run(std::move(box), sums, sizeof(Speaker));
  std::vector<Speaker> speakers;
  for (const auto& item : inbox.items) speakers.push_back(values_in<Speaker>(inbox.of(item)).at(0));
  return speakers;
}

void add_lines(const Messages& messages, const std::vector<Speaker>& speakers, bool is_receive,
               std::vector<Line>& lines) {
  for (std::size_t i = 0; i < messages.size(); ++i)
    lines.push_back({messages.partners[i], speakers[i], messages.bytes[i], is_receive});
}

/// Collective. What the ranks of a host tell its speaker, its own part among them, by ascending rank; nothing on the others.
template <typename T>
std::vector<std::pair<Rank, std::vector<T>>> tell_speaker(const Communicator& comm, SparseExchange& sparse,
                                                          Rank speaker, std::vector<T> mine) {
  std::int64_t most = std::ssize(mine);
  all_max(comm, std::span(&most, 1));
  SparseExchange::Box box;
  if (comm.rank() != speaker) box.add(speaker, bytes_of(std::span<const T>(mine)));
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox =
      sparse.run(std::move(box), sums, static_cast<std::size_t>(most) * sizeof(T));
  std::vector<std::pair<Rank, std::vector<T>>> told;
  if (comm.rank() != speaker) return told;
  told.emplace_back(comm.rank(), std::move(mine));  // the lowest of its host
  for (const auto& item : inbox.items) told.emplace_back(item.partner, values_in<T>(inbox.of(item)));
  return told;
}

/// A message with an end on this host.
struct Edge {
  Rank src;
  Rank dst;
  Bytes bytes;
  Speaker other;  // of the end that is elsewhere
  PhaseId phase = 0;
};

/// What a speaker knows of its host.
struct HostMessages {
  std::vector<Edge> sends;     // to other hosts, by (host, src, dst)
  std::vector<Edge> receives;  // from other hosts, by (host, src, dst)
  std::vector<Edge> inside;    // by (src, dst)

  void add(Rank rank, const Line& line, Rank host) {
    const bool stays = line.speaker.host == host;
    if (line.is_receive) {
      if (!stays) receives.push_back({line.partner, rank, line.bytes, line.speaker});
    } else {
      (stays ? inside : sends).push_back({rank, line.partner, line.bytes, line.speaker});
    }
  }
  void sort() {
    const auto key = [](const Edge& edge) { return std::tuple(edge.other.host, edge.src, edge.dst); };
    for (std::vector<Edge>* edges : {&sends, &receives, &inside}) std::ranges::sort(*edges, {}, key);
  }
};

/// As one rank's, whose partners are hosts.
Messages as_messages(const std::vector<Edge>& edges) {
  Messages messages;
  for (const Edge& edge : edges) messages.add(edge.other.host, edge.bytes);
  return messages;
}

std::int64_t most_to_one(const Messages& messages) {
  std::int64_t most = 1;
  for (std::size_t first = 0, i = 0; i < messages.size(); ++i) {
    if (messages.partners[i] != messages.partners[first]) first = i;
    most = std::max(most, static_cast<std::int64_t>(i - first + 1));
  }
  return most;
}

/// Collective. Phases of what goes between hosts; those that nobody uses are left out.
void color(const LocalProblem& problem, const HostPlace& place, HostMessages& host) {
  const Communicator& comm = problem.comm;
  const Messages sends = as_messages(host.sends);
  const Messages receives = as_messages(host.receives);
  const Facts facts(comm, sends, receives);
  std::map<Rank, Rank> speakers;
  for (const std::vector<Edge>* edges : {&host.sends, &host.receives})
    for (const Edge& edge : *edges) speakers.emplace(edge.other.host, edge.other.rank);
  std::int64_t most_letters = std::max(most_to_one(sends), most_to_one(receives));
  all_max(comm, std::span(&most_letters, 1));
  const Vertices hosts{place.host, place.num_hosts, [&](Rank h) { return speakers.at(h); },
                       static_cast<std::size_t>(most_letters)};
  const Colours found = find_colours({comm, problem.sparse, sends, receives, facts, problem.seed}, hosts);
  std::vector<std::int64_t> used(found.palette->size(), 0);
  for (const Colour colour : found.sends) used[colour] = 1;
  all_max(comm, std::span(used));
  all_or_none(comm, [&] {
    const std::vector<std::uint8_t> is_used(used.begin(), used.end());
    const std::vector<PhaseId> number = phases_of(is_used);
    for (std::size_t i = 0; i < host.sends.size(); ++i) host.sends[i].phase = number[found.sends[i]];
    for (std::size_t i = 0; i < host.receives.size(); ++i) host.receives[i].phase = number[found.receives[i]];
  });
}

void deal_inside(const HostPlace& place, HostMessages& host) {
  const auto local = [&](Rank rank) {
    return static_cast<Rank>(std::ranges::lower_bound(place.near, rank) - place.near.begin());
  };
  sched::IdlePhases idle(static_cast<Rank>(place.near.size()));
  for (const Edge& edge : host.sends) idle.mark_send(local(edge.src), edge.phase);
  for (const Edge& edge : host.receives) idle.mark_receive(local(edge.dst), edge.phase);
  for (Edge& edge : host.inside)
    edge.phase = static_cast<PhaseId>(idle.take_first(local(edge.src), local(edge.dst)));
}

/// By partner.
struct PhasesOfRank {
  std::map<Rank, PhaseId> sends;
  std::map<Rank, PhaseId> receives;
};

std::map<Rank, PhasesOfRank> by_rank(const HostMessages& host) {
  std::map<Rank, PhasesOfRank> all;
  for (const std::vector<Edge>* edges : {&host.sends, &host.inside})
    for (const Edge& edge : *edges) all[edge.src].sends.emplace(edge.dst, edge.phase);
  for (const std::vector<Edge>* edges : {&host.receives, &host.inside})
    for (const Edge& edge : *edges) all[edge.dst].receives.emplace(edge.src, edge.phase);
  return all;
}

/// Collective. Of this rank's sends, then of its receives, both by ascending partner.
std::vector<PhaseId> tell_ranks(const LocalProblem& problem, const HostPlace& place,
                                const HostMessages& host) {
  auto most = static_cast<std::int64_t>(problem.sends.size() + problem.receives.size());
  all_max(problem.comm, std::span(&most, 1));
  SparseExchange::Box box;
  std::vector<PhaseId> mine;
  for (const auto& [rank, phases] : by_rank(host)) {
    std::vector<PhaseId> told;
    for (const auto* side : {&phases.sends, &phases.receives})
      for (const auto& [partner, phase] : *side) told.push_back(phase);
    if (rank == place.leader())
      mine = std::move(told);
    else
      box.add(rank, bytes_of(std::span<const PhaseId>(told)));
  }
  SparseExchange::Sums sums{};
  const SparseExchange::Box& inbox =
      problem.sparse.run(std::move(box), sums, static_cast<std::size_t>(most) * sizeof(PhaseId));
  for (const auto& item : inbox.items) mine = values_in<PhaseId>(inbox.of(item));
  return mine;
}

/// A use of a host's port.
struct PortUse {
  PhaseId phase;
  bool is_receive;
  friend auto operator<=>(const PortUse&, const PortUse&) = default;
};

}  // namespace

HostPlace place_among_hosts(const Communicator& comm, std::vector<Rank> near) {
  HostPlace place{.host = 0, .num_hosts = 0, .near = std::move(near)};
  const std::int64_t speaks = place.leader() == comm.rank() ? 1 : 0;
  const auto before = static_cast<Rank>(exclusive_sum(comm, speaks));
  place.host = values_on_host(comm, place.near, before).front();
  std::int64_t num_hosts = speaks;
  all_reduce(comm, MPI_IN_PLACE, &num_hosts, 1, MPI_INT64_T, MPI_SUM);
  place.num_hosts = static_cast<Rank>(num_hosts);
  return place;
}

LocalPlan plan_hosts_first(const LocalProblem& problem, const HostPlace& place) {
  const Communicator& comm = problem.comm;
  const Speaker mine{place.host, place.leader()};
  const std::vector<Speaker> of_sources = ask(problem, problem.sends.partners, mine);
  const std::vector<Speaker> of_destinations = ask(problem, problem.receives.partners, mine);
  std::vector<Line> lines;
  all_or_none(comm, [&] {
    add_lines(problem.sends, of_destinations, false, lines);
    add_lines(problem.receives, of_sources, true, lines);
  });
  const auto told = tell_speaker(comm, problem.sparse, place.leader(), std::move(lines));
  HostMessages host;
  all_or_none(comm, [&] {
    for (const auto& [rank, its_lines] : told)
      for (const Line& line : its_lines) host.add(rank, line, place.host);
    host.sort();
  });
  color(problem, place, host);
  all_or_none(comm, [&] { deal_inside(place, host); });
  const std::vector<PhaseId> phases = tell_ranks(problem, place, host);
  std::int64_t num_phases = 0;
  for (const PhaseId phase : phases) num_phases = std::max<std::int64_t>(num_phases, phase + 1);
  all_max(comm, std::span(&num_phases, 1));
  const std::size_t num_sends = problem.sends.size();
  return plan_of(problem, placed(problem.sends, [&](std::size_t i) { return phases[i]; }),
                 placed(problem.receives, [&](std::size_t i) { return phases[num_sends + i]; }),
                 static_cast<std::size_t>(num_phases));
}

void check_host_ports(const Communicator& comm, SparseExchange& sparse, const PhaseTable& table,
                      const HostPlace& place) {
  const auto is_far = [&](Rank rank) {
    return rank != no_rank && !std::ranges::binary_search(place.near, rank);
  };
  std::vector<PortUse> uses;
  all_or_none(comm, [&] {
    for (const PhaseEntry& entry : table.entries) {
      if (is_far(entry.send_partner)) uses.push_back({entry.phase, false});
      if (is_far(entry.recv_partner)) uses.push_back({entry.phase, true});
    }
  });
  const auto told = tell_speaker(comm, sparse, place.leader(), std::move(uses));
  all_or_none(comm, [&] {
    std::map<PortUse, Rank> first;
    for (const auto& [rank, its_uses] : told)
      for (const PortUse& use : its_uses)
        if (const auto [at, is_new] = first.emplace(use, rank); !is_new)
          throw Error(ErrorCode::mismatch, "phase " + std::to_string(use.phase) + ": ranks " +
                                               std::to_string(at->second) + " and " + std::to_string(rank) +
                                               " of one host both " + (use.is_receive ? "receive" : "send") +
                                               " over its port");
  });
}

}  // namespace nuice::mpi
