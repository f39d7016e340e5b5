// SPDX-License-Identifier: BSD-3-Clause
// What a DynamicSchedule shows of itself: the check of the last change, one rank's slice, matrix and schedule.
#include <algorithm>
#include <array>
#include <numeric>

#include "nuice/core/error.hpp"
#include "schedulers/derived/update_state.hpp"

namespace nuice::update {
namespace {

Violation violation_at(ViolationKind kind, PhaseId phase, Rank src, Rank dst, const std::string& what) {
  Violation violation{.kind = kind, .phase = phase, .src = src, .dst = dst};
  violation.message_src = src;
  violation.message_dst = dst;
  violation.text = "message " + pair_text(src, dst) + ": " + what;
  return violation;
}

/// Cells of one rank in this phase: 0, 1, or more where it has contention.
std::size_t count_in_phase(std::span<const sched::PhaseCell> cells, PhaseId phase) {
  return std::ranges::equal_range(cells, phase, {}, &sched::PhaseCell::phase).size();
}

/// What one message says of itself and what both its ranks say.
struct Audit {
  const State& state;

  std::optional<Violation> message(Rank src, Rank dst) const {
    const State::Record* record = state.find(src, dst);
    if (record == nullptr) return std::nullopt;
    const PhaseId phase = record->phase;
    if (count_in_phase(state.grid.sends(src), phase) > 1)
      return violation_at(ViolationKind::two_sends, phase, src, dst, "its sender sends twice");
    if (count_in_phase(state.grid.receives(dst), phase) > 1)
      return violation_at(ViolationKind::two_receives, phase, src, dst, "its receiver receives twice");
    if (state.grid.receiver_of(src, phase) != dst || state.grid.sender_to(dst, phase) != src)
      return violation_at(ViolationKind::not_delivered, phase, src, dst, "its ranks do not exchange it");
    return std::nullopt;
  }

  /// The message at a place that was left must name that place too.
  std::optional<Violation> place_left(Rank src, Rank dst, PhaseId phase) const {
    const Rank receiver = state.grid.receiver_of(src, phase);
    const Rank sender = state.grid.sender_to(dst, phase);
    for (const auto& [from, to] : {std::pair{src, receiver}, std::pair{sender, dst}}) {
      if (from == no_rank || to == no_rank) continue;
      const State::Record* record = state.find(from, to);
      if (record == nullptr || record->phase != phase)
        return violation_at(ViolationKind::bad_piece, phase, from, to, "exchanged, but there is none");
      if (auto violation = message(from, to)) return violation;
    }
    return std::nullopt;
  }

  /// No place is anybody else's, as there are as many of them as messages.
  std::optional<Violation> all_messages() const {
    for (Rank rank = 0; rank < state.num_ranks(); ++rank) {
      for (const State::Record& record : state.records[index(rank)]) {
        if (auto violation = message(rank, record.dst)) return violation;
      }
      const bool has_more = state.grid.sends(rank).size() != state.num_sends[index(rank)] ||
                            state.grid.receives(rank).size() != state.num_receives[index(rank)];
      if (has_more)
        return violation_at(ViolationKind::bad_piece, 0, rank, rank,
                            "the rank exchanges more than its messages");
    }
    return std::nullopt;
  }

  std::optional<Violation> request(const Message& asked) const {
    const auto& [src, dst, bytes] = asked;
    const State::Record* record = src == dst ? nullptr : state.find(src, dst);
    const Bytes has = src == dst ? state.self_bytes[index(src)] : record == nullptr ? 0 : record->bytes;
    if (has != bytes) {
      return violation_at(ViolationKind::not_delivered, 0, src, dst,
                          std::to_string(has) + " bytes instead of " + std::to_string(bytes));
    }
    return src == dst ? std::nullopt : message(src, dst);
  }
};

}  // namespace

std::optional<Violation> check_changes(const State& state) {
  const Audit audit{state};
  for (const Message& asked : state.asked) {
    if (auto violation = audit.request(asked)) return violation;
  }
  if (state.is_planned_anew) return audit.all_messages();
  for (const auto& [src, dst, phase] : state.left) {
    if (auto violation = audit.place_left(src, dst, phase)) return violation;
  }
  for (const auto& [src, dst, from, to] : state.moves) {
    if (auto violation = audit.message(src, dst)) return violation;
    if (auto violation = audit.place_left(src, dst, from)) return violation;
  }
  return std::nullopt;
}

CommMatrix State::matrix() const {
  std::vector<Message> messages;
  messages.reserve(num_messages + self_bytes.size());
  for (Rank src = 0; src < num_ranks(); ++src) {
    const auto& row = records[index(src)];
    const auto behind = std::ranges::lower_bound(row, src, {}, &Record::dst);
    for (auto record = row.begin(); record != behind; ++record)
      messages.push_back({src, record->dst, record->bytes});
    messages.push_back({src, src, self_bytes[index(src)]});
    for (auto record = behind; record != row.end(); ++record)
      messages.push_back({src, record->dst, record->bytes});
  }
  return CommMatrix::from_messages(num_ranks(), messages);
}

}  // namespace nuice::update

namespace nuice {

using update::index;
using update::State;

std::optional<Violation> DynamicSchedule::check_changes() const { return update::check_changes(*state_); }

std::vector<Rank> DynamicSchedule::changed_ranks() const {
  std::vector<Rank> ranks;
  if (state_->is_planned_anew) {
    ranks.resize(index(num_ranks()));
    std::iota(ranks.begin(), ranks.end(), Rank{0});
    return ranks;
  }
  const auto add = [&ranks](Rank src, Rank dst) { ranks.insert(ranks.end(), {src, dst}); };
  for (const Message& asked : state_->asked) add(asked.src, asked.dst);
  for (const auto& move : state_->moves) add(move.src, move.dst);
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  return ranks;
}

namespace {

/// Numbers without those of empty phases.
std::vector<PhaseId> final_numbers(const sched::PhaseGrid& grid) {
  std::vector<PhaseId> numbers(grid.end_phase());
  PhaseId next = 0;
  for (PhaseId phase = 0; phase < grid.end_phase(); ++phase) {
    numbers[phase] = next;
    if (grid.is_used(phase)) ++next;
  }
  return numbers;
}

void add_self(std::vector<Partner>& partners, Rank rank, Bytes bytes) {
  if (bytes == 0) return;
  partners.insert(std::ranges::lower_bound(partners, rank, {}, &Partner::rank), {rank, bytes});
}

}  // namespace

PhaseTable DynamicSchedule::table(Rank rank) const {
  if (rank < 0 || rank >= num_ranks()) {
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(rank) + ": ranks go from 0 to " + std::to_string(num_ranks() - 1));
  }
  const State& state = *state_;
  const std::vector<PhaseId> number = final_numbers(state.grid);
  const auto sends = state.grid.sends(rank);
  const auto receives = state.grid.receives(rank);
  PhaseTable table;
  table.rank = rank;
  table.num_ranks = num_ranks();
  table.num_phases = num_phases();
  for (auto send = sends.begin(), receive = receives.begin();
       send != sends.end() || receive != receives.end();) {
    const bool has_send = send != sends.end() && (receive == receives.end() || send->phase <= receive->phase);
    const bool has_receive =
        receive != receives.end() && (send == sends.end() || receive->phase <= send->phase);
    PhaseEntry& entry = table.entries.emplace_back();
    entry.phase = number[has_send ? send->phase : receive->phase];
    if (has_send) {
      entry.send_partner = send->partner;
      entry.send_bytes = state.find(rank, send->partner)->bytes;
      ++send;
    }
    if (has_receive) {
      entry.recv_partner = receive->partner;
      entry.recv_bytes = state.find(receive->partner, rank)->bytes;
      table.sources.push_back({entry.recv_partner, entry.recv_bytes});
      ++receive;
    }
  }
  for (const State::Record& record : state.records[index(rank)])
    table.destinations.push_back({record.dst, record.bytes});
  std::ranges::sort(table.sources, {}, &Partner::rank);
  add_self(table.destinations, rank, state.self_bytes[index(rank)]);
  add_self(table.sources, rank, state.self_bytes[index(rank)]);
  return table;
}

CommMatrix DynamicSchedule::matrix() const { return state_->matrix(); }

Schedule DynamicSchedule::schedule(const CommMatrix& matrix) const {
  if (matrix.num_ranks() != num_ranks() || matrix.num_messages() != num_messages()) {
    throw Error(ErrorCode::mismatch, "the matrix has " + std::to_string(matrix.num_ranks()) + " ranks and " +
                                         std::to_string(matrix.num_messages()) +
                                         " messages, the schedule is for " + std::to_string(num_ranks()) +
                                         " and " + std::to_string(num_messages()));
  }
  std::vector<PhaseId> phase_of;
  phase_of.reserve(num_messages());
  for (Rank src = 0; src < num_ranks(); ++src) {
    if (matrix.self_bytes(src) != state_->self_bytes[index(src)])
      throw Error(ErrorCode::mismatch, update::pair_text(src, src) + ": not the size in the matrix");
    for (const auto& [dst, phase, bytes] : state_->records[index(src)]) {
      const auto id = static_cast<MessageId>(phase_of.size());
      if (matrix.message(id) != Message{src, dst, bytes})
        throw Error(ErrorCode::mismatch, update::pair_text(src, dst) + ": not in the matrix with that size");
      phase_of.push_back(phase);
    }
  }
  return Schedule::of_whole_messages(matrix, phase_of, state_->grid.end_phase());
}

}  // namespace nuice
