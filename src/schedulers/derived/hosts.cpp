// SPDX-License-Identifier: BSD-3-Clause
// Schedules for hosts with several ranks, one port each (after 000 s.2.1: what may contend is a port, not a processor).
//
// A message between two hosts stands for the ranks' messages between them, back to back by (src, dst). A piece of it
// is then pieces of those: Bundles translates. The pieces of one transfer between hosts become one transfer after the other.
//
// A row with phases_between_hosts colours the messages themselves, between hosts as vertices: fewer phases where hosts have different
// numbers of messages for each other.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nuice/plan/host_schedule.hpp"
#include "schedulers/derived/idle_phases.hpp"

namespace nuice {
namespace {

/// The ranks' messages in each message of the hosts' matrix.
class Bundles {
 public:
  Bundles(const CommMatrix& matrix, const CommMatrix& between, const Hosts& hosts)
      : matrix_(matrix), messages_(between.num_messages()) {
    for (MessageId id = 0; id < matrix.num_messages(); ++id) {
      const auto [src, dst, bytes] = matrix.message(id);
      if (!hosts.same(src, dst))
        messages_[*between.find(hosts.host_of(src), hosts.host_of(dst))].push_back(id);
    }
  }

  /// Appends the pieces of ranks' messages that are this piece of a hosts' message.
  void append(const Piece& piece, std::vector<Piece>& pieces) const {
    Bytes begin = 0;  // of the rank's message in the hosts' one
    for (const MessageId id : messages_[piece.message]) {
      const Bytes end = begin + matrix_.bytes(id);
      const Bytes from = std::max(begin, piece.offset);
      const Bytes to = std::min(end, piece.offset + piece.bytes);
      if (from < to) pieces.push_back({id, from - begin, to - from});
      begin = end;
    }
  }

 private:
  const CommMatrix& matrix_;
  std::vector<std::vector<MessageId>> messages_;  // by message of the hosts' matrix
};

/// Transfers of one piece in any number of phases, and when each rank is idle.
class PhaseList {
 public:
  explicit PhaseList(const CommMatrix& matrix) : matrix_(matrix), idle_(matrix.num_ranks()) {}

  std::size_t size() const { return phases_.size(); }
  void add(std::size_t phase, const Piece& piece) {
    at(phase).push_back(piece);
    idle_.mark_send(matrix_.src(piece.message), phase);
    idle_.mark_receive(matrix_.dst(piece.message), phase);
  }
  /// Those inside hosts, each where both its ranks are idle first.
  void deal_inside(const Hosts& hosts) {
    for (MessageId id = 0; id < matrix_.num_messages(); ++id) {
      const auto [src, dst, bytes] = matrix_.message(id);
      if (hosts.same(src, dst)) at(idle_.take_first(src, dst)).push_back({id, 0, bytes});
    }
  }
  Schedule schedule() const {
    Schedule result(matrix_.num_ranks());
    for (const std::vector<Piece>& phase : phases_) {
      result.begin_phase();
      for (const Piece& piece : phase)
        result.add(matrix_.src(piece.message), matrix_.dst(piece.message), {&piece, 1});
    }
    return result;
  }

 private:
  std::vector<Piece>& at(std::size_t phase) {
    if (phase >= phases_.size()) phases_.resize(phase + 1);
    return phases_[phase];
  }

  const CommMatrix& matrix_;
  std::vector<std::vector<Piece>> phases_;
  sched::IdlePhases idle_;
};

Problem on_hosts(const Problem& problem, const CommMatrix& between) {
  return {.matrix = between,
          .seed = problem.seed,
          .phase_cost_bytes = problem.phase_cost_bytes,
          .topology = nullptr,
          .prefer_pairs = problem.prefer_pairs};
}

}  // namespace

bool schedules_hosts(const Scheduler& scheduler) {
  constexpr unsigned needed = direct | one_port;
  return (scheduler.guarantees & (needed | link_free)) == needed;
}

unsigned host_guarantees(const Scheduler& scheduler) {
  return schedules_hosts(scheduler) ? direct | one_port : scheduler.guarantees;
}

Schedule make_host_schedule(const Problem& problem, std::string_view name, const Hosts& hosts) {
  const Scheduler& scheduler = find_scheduler(name);
  if (!schedules_hosts(scheduler) || !hosts.any_shared()) return make_schedule(problem, name);
  const CommMatrix& matrix = problem.matrix;
  PhaseList phases(matrix);
  if (scheduler.phases_between_hosts != nullptr) {
    const std::vector<PhaseId> phase_of = scheduler.phases_between_hosts(problem, hosts);
    for (MessageId id = 0; id < matrix.num_messages(); ++id)
      if (!hosts.same(matrix.src(id), matrix.dst(id))) phases.add(phase_of[id], {id, 0, matrix.bytes(id)});
    phases.deal_inside(hosts);
    return phases.schedule();
  }
  const CommMatrix between = host_matrix(matrix, hosts);
  const Schedule plan = make_schedule(on_hosts(problem, between), name);
  const Bundles bundles(matrix, between, hosts);
  std::vector<Piece> pieces;
  for (PhaseId phase = 0; phase < plan.num_phases(); ++phase) {
    const std::size_t first = phases.size();
    for (const Transfer& transfer : plan.transfers(phase)) {
      pieces.clear();
      for (const Piece& piece : transfer.pieces) bundles.append(piece, pieces);
      for (std::size_t i = 0; i < pieces.size(); ++i) phases.add(first + i, pieces[i]);
    }
  }
  phases.deal_inside(hosts);
  return phases.schedule();
}

}  // namespace nuice
