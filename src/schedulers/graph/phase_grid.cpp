// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/phase_grid.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace nuice::sched {
namespace {

/// The first cell of this phase or a later one. Phases ascend, so it is at index `phase` or before.
template <typename Cells>
auto lower_bound(Cells& cells, PhaseId phase) {
  if (phase < cells.size() && cells[phase].phase == phase) return cells.begin() + phase;
  const auto end = phase < cells.size() ? cells.begin() + static_cast<std::ptrdiff_t>(phase) : cells.end();
  return std::ranges::lower_bound(cells.begin(), end, phase, {}, &PhaseCell::phase);
}

template <typename Cells>
bool is_at(const Cells& cells, auto cell, PhaseId phase) {
  return cell != cells.end() && cell->phase == phase;
}

Rank partner_in(const std::vector<PhaseCell>& cells, PhaseId phase) {
  const auto cell = lower_bound(cells, phase);
  return is_at(cells, cell, phase) ? cell->partner : no_rank;
}

/// The first phase >= from without a cell.
PhaseId first_idle(const std::vector<PhaseCell>& cells, PhaseId from) {
  const auto cell = lower_bound(cells, from);
  if (!is_at(cells, cell, from)) return from;
  // phase - index never falls, and is that of `cell` as long as no phase is missing.
  const auto behind = std::ranges::partition_point(
      cell, cells.end(), [&](const PhaseCell& c) { return std::ptrdiff_t{c.phase} - from == &c - &*cell; });
  return from + static_cast<PhaseId>(behind - cell);
}

/// The first phase that is idle in both; `limit` or more if none below it is.
PhaseId first_idle_in_both(const std::vector<PhaseCell>& a, const std::vector<PhaseCell>& b, PhaseId limit) {
  for (PhaseId phase = 0; phase < limit;) {
    const PhaseId at_a = first_idle(a, phase);
    phase = first_idle(b, at_a);
    if (phase == at_a) return phase;
  }
  return limit;
}

/// What was in phase a is in b now, and the other way round.
void exchange(std::vector<PhaseCell>& cells, PhaseId a, PhaseId b) {
  const auto at_a = lower_bound(cells, a);
  const auto at_b = lower_bound(cells, b);
  const bool has_a = is_at(cells, at_a, a);
  const bool has_b = is_at(cells, at_b, b);
  if (has_a && has_b) {
    std::swap(at_a->partner, at_b->partner);
  } else if (has_a || has_b) {
    const auto from = has_a ? at_a : at_b;
    const auto to = has_a ? at_b : at_a;
    from->phase = has_a ? b : a;
    from < to ? std::rotate(from, from + 1, to) : std::rotate(to, from, from + 1);
  }
}

}  // namespace

Rank PhaseGrid::receiver_of(Rank src, PhaseId phase) const {
  return partner_in(sends_[static_cast<std::size_t>(src)], phase);
}
Rank PhaseGrid::sender_to(Rank dst, PhaseId phase) const {
  return partner_in(receives_[static_cast<std::size_t>(dst)], phase);
}

void PhaseGrid::reserve(Rank rank, std::size_t num_sends, std::size_t num_receives) {
  sends_[static_cast<std::size_t>(rank)].reserve(num_sends);
  receives_[static_cast<std::size_t>(rank)].reserve(num_receives);
}

void PhaseGrid::place(Rank src, Rank dst, PhaseId phase) {
  Cells& sends = sends_[static_cast<std::size_t>(src)];
  Cells& receives = receives_[static_cast<std::size_t>(dst)];
  sends.insert(lower_bound(sends, phase), {phase, dst});
  receives.insert(lower_bound(receives, phase), {phase, src});
  if (phase >= phases_.size()) phases_.resize(phase + std::size_t{1});
  enter(phase, src);
}

void PhaseGrid::remove(Rank src, Rank dst, PhaseId phase) {
  Cells& sends = sends_[static_cast<std::size_t>(src)];
  Cells& receives = receives_[static_cast<std::size_t>(dst)];
  sends.erase(lower_bound(sends, phase));
  receives.erase(lower_bound(receives, phase));
  leave(phase);
  while (!phases_.empty() && phases_.back().size == 0) phases_.pop_back();
}

PhaseId PhaseGrid::make_room(Rank src, Rank dst, PhaseId limit, std::vector<PhaseMove>& moves) {
  const Cells& sends = sends_[static_cast<std::size_t>(src)];
  const Cells& receives = receives_[static_cast<std::size_t>(dst)];
  if (const PhaseId phase = first_idle_in_both(sends, receives, limit); phase < limit) return phase;
  const PhaseId a = first_idle(sends, 0);
  exchange_along_path(dst, a, first_idle(receives, 0), moves);
  return a;
}

/// Frees phase a at the receiver dst, which is idle in b: its message in a goes to b, the sender's message in b to a,
/// and so on until a rank has no message in the other phase. The path cannot come to a sender that is idle in a, as it
/// enters senders by a.
void PhaseGrid::exchange_along_path(Rank dst, PhaseId a, PhaseId b, std::vector<PhaseMove>& moves) {
  for (Rank receiver = dst; receiver != no_rank;) {
    Cells& receives = receives_[static_cast<std::size_t>(receiver)];
    const Rank sender = partner_in(receives, a);
    exchange(receives, a, b);
    if (sender == no_rank) return;  // as many messages went from a to b as the other way
    Cells& sends = sends_[static_cast<std::size_t>(sender)];
    const Rank next = partner_in(sends, b);
    exchange(sends, a, b);
    moves.push_back({sender, receiver, a, b});
    if (next != no_rank) moves.push_back({sender, next, b, a});
    receiver = next;
    if (next == no_rank) {
      leave(a);
      enter(b, sender);
    }
  }
}

void PhaseGrid::leave(PhaseId phase) {
  if (--phases_[phase].size == 0) --num_used_;
}

void PhaseGrid::enter(PhaseId phase, Rank src) {
  auto& [size, senders] = phases_[phase];
  if (size++ == 0) ++num_used_;
  senders.push_back(src);
  if (senders.size() <= 2 * size + 16) return;
  std::ranges::sort(senders);
  const auto repeated = std::ranges::unique(senders);
  senders.erase(repeated.begin(), repeated.end());
  std::erase_if(senders, [&, phase = phase](Rank rank) { return receiver_of(rank, phase) == no_rank; });
}

Rank PhaseGrid::sender_in_last_phase() {
  std::vector<Rank>& senders = phases_.back().senders;
  while (receiver_of(senders.back(), end_phase() - 1) == no_rank) senders.pop_back();
  return senders.back();
}

}  // namespace nuice::sched
