// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/update.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "nuice/check.hpp"
#include "nuice/error.hpp"

namespace nuice {
namespace {

std::string pair_text(Rank src, Rank dst) {
  return "rank " + std::to_string(src) + " -> rank " + std::to_string(dst);
}

void require_whole_messages(const CommMatrix& matrix, const Schedule& schedule) {
  if (const auto violation = check(matrix, schedule, direct | one_port)) {
    if (const auto worse = check(matrix, schedule, 0)) throw Error(ErrorCode::mismatch, worse->text);
    throw Error(ErrorCode::not_applicable,
                "only schedules that are direct and one_port can be updated: " + violation->text);
  }
  if (schedule.num_transfers() != matrix.num_messages()) {
    throw Error(ErrorCode::not_applicable, "only schedules of whole messages can be updated");
  }
}

/// The phases below num_phases that are not taken, as bits.
template <typename Slots>
std::vector<std::uint64_t> free_phases(const Slots& slots, PhaseId num_phases) {
  std::vector<std::uint64_t> free((num_phases + std::size_t{63}) / 64, ~std::uint64_t{0});
  for (const auto& slot : slots) {
    if (slot.phase < num_phases) free[slot.phase / 64] &= ~(std::uint64_t{1} << (slot.phase % 64));
  }
  return free;
}

/// The lowest phase in both sets, or num_phases if that is not below it.
PhaseId first_common(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b,
                     PhaseId num_phases) {
  for (std::size_t word = 0; word < a.size(); ++word) {
    const std::uint64_t both = a[word] & b[word];
    if (both == 0) continue;
    return std::min(num_phases,
                    static_cast<PhaseId>(word * 64) + static_cast<PhaseId>(std::countr_zero(both)));
  }
  return num_phases;
}

template <typename Slots>
auto find_phase(Slots& slots, PhaseId phase) {
  return std::ranges::find_if(slots, [phase](const auto& slot) { return slot.phase == phase; });
}

template <typename Slots, typename Iterator>
void erase_unordered(Slots& slots, Iterator at) {
  *at = slots.back();
  slots.pop_back();
}

}  // namespace

DynamicSchedule::DynamicSchedule(const CommMatrix& matrix, const Schedule& schedule)
    : sends_(static_cast<std::size_t>(matrix.num_ranks())),
      receives_(sends_.size()),
      ranks_of_degree_(1, 2 * sends_.size()) {
  require_whole_messages(matrix, schedule);
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    sends(rank).reserve(matrix.sent_by(rank).size());
    receives(rank).reserve(matrix.received_by(rank).size());
  }
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    for (const Transfer& transfer : schedule.transfers(phase)) {
      place(transfer.src, transfer.dst, transfer.bytes(), phase);
    }
  }
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) self_bytes_.push_back(matrix.self_bytes(rank));
}

void DynamicSchedule::set(Rank src, Rank dst, Bytes bytes) {
  const auto outside = [this](Rank rank) { return rank < 0 || rank >= num_ranks(); };
  if (outside(src) || outside(dst)) {
    throw Error(ErrorCode::invalid_argument,
                pair_text(src, dst) + ": ranks go from 0 to " + std::to_string(num_ranks() - 1));
  }
  if (bytes < 0) {
    throw Error(ErrorCode::invalid_argument,
                pair_text(src, dst) + ": negative size " + std::to_string(bytes));
  }
  if (bytes > max_bytes) {
    throw Error(ErrorCode::limit,
                pair_text(src, dst) + ": " + std::to_string(bytes) + " bytes, more than 2^62");
  }
  if (src == dst) {
    self_bytes_[static_cast<std::size_t>(src)] = bytes;
  } else if (Send* known = find_send(src, dst); known != nullptr) {
    bytes > 0 ? static_cast<void>(known->bytes = bytes) : remove(src, dst);
  } else if (bytes > 0) {
    put(src, dst, bytes);
  }
}

DynamicSchedule::Send* DynamicSchedule::find_send(Rank src, Rank dst) {
  const auto found = std::ranges::find_if(sends(src), [dst](const Send& send) { return send.to == dst; });
  return found == sends(src).end() ? nullptr : &*found;
}

DynamicSchedule::Receive& DynamicSchedule::receive_of(Pair pair) {
  return *std::ranges::find_if(receives(pair.dst),
                               [&](const Receive& receive) { return receive.from == pair.src; });
}

void DynamicSchedule::put(Rank src, Rank dst, Bytes bytes) {
  const std::size_t degree = std::max(sends(src).size(), receives(dst).size()) + 1;
  const auto allowed = static_cast<PhaseId>(std::max<std::size_t>(degree, max_degree()));
  place(src, dst, bytes, free_phase_for(src, dst, std::max(allowed, num_phases())));
}

/// Requires that both have fewer than num_phases messages.
PhaseId DynamicSchedule::free_phase_for(Rank src, Rank dst, PhaseId num_phases) {
  const auto free_at_sender = free_phases(sends(src), num_phases);
  const auto free_at_receiver = free_phases(receives(dst), num_phases);
  const PhaseId common = first_common(free_at_sender, free_at_receiver, num_phases);
  if (common < num_phases) return common;
  // Freed at the receiver by exchanging it with one that is free there; the path cannot come to the sender, since it
  // would have to arrive there by the first phase.
  const PhaseId a = first_common(free_at_sender, free_at_sender, num_phases);
  exchange_along_path(dst, a, first_common(free_at_receiver, free_at_receiver, num_phases));
  return a;
}

void DynamicSchedule::exchange_along_path(Rank dst, PhaseId a, PhaseId b) {
  std::vector<Pair> path;
  for (Rank receiver = dst;;) {
    const auto in = find_phase(receives(receiver), a);
    if (in == receives(receiver).end()) break;
    const Rank sender = in->from;
    path.push_back({sender, receiver});
    const auto out = find_phase(sends(sender), b);
    if (out == sends(sender).end()) break;
    receiver = out->to;
    path.push_back({sender, receiver});
  }
  PhaseId next = b;  // of the first message, which was in a
  for (const Pair& pair : path) {
    move(pair, next);
    next = next == a ? b : a;
  }
}

void DynamicSchedule::place(Rank src, Rank dst, Bytes bytes, PhaseId phase) {
  change_degree(sends(src).size(), sends(src).size() + 1);
  change_degree(receives(dst).size(), receives(dst).size() + 1);
  sends(src).push_back({phase, dst, bytes});
  receives(dst).push_back({phase, src});
  if (phase >= phase_size_.size()) phase_size_.resize(phase + std::size_t{1}, 0);
  ++phase_size_[phase];
}

void DynamicSchedule::move(Pair pair, PhaseId phase) {
  Send& send = *find_send(pair.src, pair.dst);
  --phase_size_[send.phase];
  if (phase >= phase_size_.size()) phase_size_.resize(phase + std::size_t{1}, 0);
  ++phase_size_[phase];
  send.phase = phase;
  receive_of(pair).phase = phase;
}

void DynamicSchedule::remove(Rank src, Rank dst) {
  change_degree(sends(src).size(), sends(src).size() - 1);
  change_degree(receives(dst).size(), receives(dst).size() - 1);
  const auto send = std::ranges::find_if(sends(src), [dst](const Send& s) { return s.to == dst; });
  const PhaseId phase = send->phase;
  erase_unordered(sends(src), send);
  erase_unordered(receives(dst), find_phase(receives(dst), phase));
  --phase_size_[phase];
  while (!phase_size_.empty() && phase_size_.back() == 0) phase_size_.pop_back();
}

void DynamicSchedule::change_degree(std::size_t from, std::size_t to) {
  --ranks_of_degree_[from];
  if (to >= ranks_of_degree_.size()) ranks_of_degree_.resize(to + 1, 0);
  ++ranks_of_degree_[to];
  while (ranks_of_degree_.size() > 1 && ranks_of_degree_.back() == 0) ranks_of_degree_.pop_back();
}

void DynamicSchedule::compact() {
  while (num_phases() > max_degree()) dissolve_smallest_phase();
}

void DynamicSchedule::dissolve_smallest_phase() {
  const auto smallest = static_cast<PhaseId>(std::ranges::min_element(phase_size_) - phase_size_.begin());
  const PhaseId last = num_phases() - 1;
  // The last phase takes the number of the smallest, whose messages are put into the others.
  std::vector<std::pair<Pair, Bytes>> homeless;
  for (Rank src = 0; src < num_ranks(); ++src) {
    if (const auto send = find_phase(sends(src), smallest); send != sends(src).end()) {
      homeless.push_back({{src, send->to}, send->bytes});
    }
  }
  for (const auto& [pair, bytes] : homeless) {
    erase_unordered(sends(pair.src), find_phase(sends(pair.src), smallest));
    erase_unordered(receives(pair.dst), find_phase(receives(pair.dst), smallest));
  }
  if (smallest != last) {
    for (auto& slots : sends_) {
      if (const auto at = find_phase(slots, last); at != slots.end()) at->phase = smallest;
    }
    for (auto& slots : receives_) {
      if (const auto at = find_phase(slots, last); at != slots.end()) at->phase = smallest;
    }
    phase_size_[smallest] = phase_size_[last];
  }
  phase_size_.pop_back();
  for (const auto& [pair, bytes] : homeless) {
    const PhaseId phase = free_phase_for(pair.src, pair.dst, last);
    sends(pair.src).push_back({phase, pair.dst, bytes});
    receives(pair.dst).push_back({phase, pair.src});
    ++phase_size_[phase];
  }
}

CommMatrix DynamicSchedule::matrix() const {
  std::vector<Message> messages;
  for (Rank src = 0; src < num_ranks(); ++src) {
    const auto index = static_cast<std::size_t>(src);
    for (const Send& send : sends_[index]) messages.push_back({src, send.to, send.bytes});
    messages.push_back({src, src, self_bytes_[index]});
  }
  return CommMatrix::from_messages(num_ranks(), messages);
}

Schedule DynamicSchedule::schedule(const CommMatrix& matrix) const {
  std::vector<PhaseId> phase_of(matrix.num_messages());
  for (Rank src = 0; src < num_ranks(); ++src) {
    for (const Send& send : sends_[static_cast<std::size_t>(src)]) {
      const auto id = matrix.find(src, send.to);
      if (!id) throw Error(ErrorCode::mismatch, pair_text(src, send.to) + ": not in the matrix");
      phase_of[*id] = send.phase;
    }
  }
  return Schedule::of_whole_messages(matrix, phase_of, num_phases());
}

Schedule update_schedule(const CommMatrix& before, const Schedule& schedule, const CommMatrix& after) {
  if (before.num_ranks() != after.num_ranks()) {
    throw Error(ErrorCode::mismatch, "the plan is for " + std::to_string(before.num_ranks()) +
                                         " ranks, the new matrix has " + std::to_string(after.num_ranks()));
  }
  DynamicSchedule live(before, schedule);
  // Removals first: they make room.
  for (MessageId id = 0; id < before.num_messages(); ++id) {
    if (!after.find(before.src(id), before.dst(id))) live.set(before.src(id), before.dst(id), 0);
  }
  for (MessageId id = 0; id < after.num_messages(); ++id) {
    if (!before.find(after.src(id), after.dst(id))) live.set(after.src(id), after.dst(id), after.bytes(id));
  }
  live.compact();
  return live.schedule(after);
}

}  // namespace nuice
