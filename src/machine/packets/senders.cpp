// SPDX-License-Identifier: BSD-3-Clause
#include "machine/packets/senders.hpp"

#include <algorithm>
#include <utility>

namespace nuice::machine {
namespace {

/// Orders a heap so that the earliest element is in front.
constexpr auto later = [](const auto& a, const auto& b) {
  return std::pair(a.slot, a.order) > std::pair(b.slot, b.order);
};

}  // namespace

Senders::Senders(const Program& program, std::vector<std::uint32_t> packets, const std::vector<bool>& eager,
                 const Dependencies* before, const Rules& rules)
    : program_(program),
      rules_(rules),
      moving_(packets.size()),
      after_(packets.size()),
      ready_(program.ops.size()),
      busy_until_(program.ops.size(), 0),
      incomplete_(packets.size()) {
  for (std::uint32_t id = 0; id < packets.size(); ++id) {
    moving_[id] = {.packets = packets[id], .unsent = packets[id], .missing = packets[id]};
    moving_[id].gates = 1 + program.moves[id].missing;
  }
  const bool phases = rules.pace == Pace::phases || rules.pace == Pace::pairs;
  if (phases) lay_stages(eager);
  if (before != nullptr) lay_dependencies(*before);
  if (rules.pace == Pace::at_once)
    for (std::uint32_t id = 0; id < packets.size(); ++id)
      push(eager[id] ? 0 : rules.times.handshake, What::opens, id);
  if (rules.pace == Pace::notices)
    for (std::uint32_t id = 0; id < packets.size(); ++id) push(0, What::opens, id);
}

void Senders::lay_dependencies(const Dependencies& before) {
  for (std::uint32_t id = 0; id < moving_.size(); ++id) {
    for (const std::uint32_t earlier : before.of(id)) after_[earlier].push_back(id);
    moving_[id].gates += static_cast<std::uint32_t>(before.of(id).size());
  }
}

void Senders::lay_stages(const std::vector<bool>& eager) {
  stages_.resize(ready_.size());
  waits_for_receiver_.resize(moving_.size());
  for (std::uint32_t id = 0; id < moving_.size(); ++id) {
    const Move& move = program_.moves[id];
    waits_for_receiver_[id] = !eager[id] || rules_.pace == Pace::pairs;
    if (waits_for_receiver_[id]) ++moving_[id].gates;
    for (const Rank rank : {move.src, move.dst}) {
      auto& all = stages_[at(rank)].all;
      if (all.empty() || all.back().phase != move.phase) all.push_back({move.phase, 0, {}});
      all.back().transfers.push_back(id);
      ++all.back().left;
    }
  }
  for (std::size_t rank = 0; rank < stages_.size(); ++rank) {
    if (!stages_[rank].all.empty()) push(0, What::enters, static_cast<std::uint32_t>(rank));
  }
}

void Senders::push(double slot, What what, std::uint32_t id) {
  events_.push_back({slot, pushed_++, what, id});
  std::ranges::push_heap(events_, later);
}

std::optional<double> Senders::next_event() const {
  if (events_.empty()) return std::nullopt;
  return events_.front().slot;
}

void Senders::begin_slot(double slot) {
  while (!events_.empty() && events_.front().slot <= slot) {
    std::ranges::pop_heap(events_, later);
    const Event event = events_.back();
    events_.pop_back();
    handle(event);
  }
}

void Senders::handle(const Event& event) {
  switch (event.what) {
    case What::opens:
      open(event.id, event.slot);
      break;
    case What::goes:
      moving_[event.id].may_go = moving_[event.id].packets;
      make_ready(event.id);
      break;
    case What::enters:
      enter(static_cast<Rank>(event.id), event.slot);
  }
}

void Senders::open(std::uint32_t transfer, double slot) {
  if (--moving_[transfer].gates > 0) return;
  double& busy_until = busy_until_[at(program_.moves[transfer].src)];
  busy_until = std::max(busy_until, slot) + rules_.times.send;
  push(busy_until, What::goes, transfer);
}

void Senders::make_ready(std::uint32_t transfer) {
  Ready& ready = ready_[at(program_.moves[transfer].src)];
  if (ready.transfers.empty()) ++num_ready_;
  ready.transfers.push_back(transfer);
}

std::uint32_t Senders::next(Rank rank) {
  Ready& ready = ready_[at(rank)];
  if (ready.turn >= ready.transfers.size()) ready.turn = 0;
  const std::uint32_t transfer = ready.transfers[ready.turn];
  Moving& moving = moving_[transfer];
  --moving.unsent;
  if (--moving.may_go > 0) {
    ++ready.turn;
  } else {
    ready.transfers.erase(ready.transfers.begin() + static_cast<std::ptrdiff_t>(ready.turn));
    if (ready.transfers.empty()) --num_ready_;
  }
  return transfer;
}

void Senders::arrives(std::uint32_t transfer, double slot) {
  Moving& moving = moving_[transfer];
  --moving.missing;
  if (!moving.told && moving.missing <= std::min(rules_.early, moving.packets / 2)) tell(transfer, slot);
  if (moving.missing == 0) complete(transfer, slot);
}

void Senders::tell(std::uint32_t transfer, double slot) {
  moving_[transfer].told = true;
  for (const std::uint32_t next : after_[transfer]) {
    const Rank here = program_.moves[transfer].dst;
    const Rank there = program_.moves[next].src;
    if (here == there)
      push(slot + rules_.times.message, What::opens, next);
    else
      carry_({here, there, next});
  }
}

void Senders::is_told(const Notice& notice, double slot) {
  push(slot + rules_.times.notice + rules_.times.message, What::opens, notice.transfer);
}

void Senders::complete(std::uint32_t transfer, double slot) {
  --incomplete_;
  const double known = slot + rules_.times.message;
  if (!program_.needed_by.empty())
    for (const TransferId next : program_.needed_by[transfer]) push(known, What::opens, next);
  if (!in_phases()) return;
  const Move& move = program_.moves[transfer];
  leave_stage(move.src, move.phase, known);
  leave_stage(move.dst, move.phase, known);
}

void Senders::leave_stage(Rank rank, PhaseId phase, double slot) {
  Stages& of_rank = stages_[at(rank)];
  const auto stage = std::ranges::lower_bound(of_rank.all, phase, {}, &Stage::phase);
  --stage->left;
  while (of_rank.current < of_rank.all.size() && of_rank.all[of_rank.current].left == 0) {
    ++of_rank.current;
    if (of_rank.current < of_rank.all.size()) push(slot, What::enters, static_cast<std::uint32_t>(rank));
  }
}

/// Lets a rank enter its next phase.
void Senders::enter(Rank rank, double slot) {
  const Stages& of_rank = stages_[at(rank)];
  if (of_rank.current == of_rank.all.size()) return;
  for (const std::uint32_t transfer : of_rank.all[of_rank.current].transfers) {
    const bool sends = program_.moves[transfer].src == rank;
    if (sends || waits_for_receiver_[transfer])
      push(slot + rules_.times.phase + (waits_for_receiver_[transfer] ? rules_.times.handshake : 0),
           What::opens, transfer);
  }
}

Rank Senders::first_waiting() const {
  for (std::uint32_t id = 0; id < moving_.size(); ++id)
    if (moving_[id].missing > 0) return program_.moves[id].src;
  return no_rank;
}

}  // namespace nuice::machine
