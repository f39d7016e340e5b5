// SPDX-License-Identifier: BSD-3-Clause
#include "machine/packets/connections.hpp"

#include <algorithm>

namespace nuice::machine {

template <typename Change>
void Connections::change(std::uint32_t id, Change apply) {
  Transfer& transfer = transfers_[id];
  const bool could = transfer.can_send();
  apply(transfer);
  const bool can = transfer.can_send();
  if (could == can) return;
  Ready& ready = ready_[static_cast<std::size_t>(transfer.sender)];
  if (can) {
    ready.transfers.push_back(id);
    ++num_sendable_;
    return;
  }
  const auto place = std::ranges::find(ready.transfers, id);
  const auto index = static_cast<std::size_t>(place - ready.transfers.begin());
  ready.transfers.erase(place);
  if (index < ready.turn) --ready.turn;
  --num_sendable_;
}

void Connections::push(Rank sender, std::uint32_t id) {
  transfers_[id].sender = sender;
  change(id, [](Transfer& transfer) { ++transfer.waiting; });
}

std::optional<std::uint32_t> Connections::next(Rank sender) {
  Ready& ready = ready_[static_cast<std::size_t>(sender)];
  if (ready.transfers.empty()) return std::nullopt;
  if (ready.turn >= ready.transfers.size()) ready.turn = 0;
  const std::uint32_t id = ready.transfers[ready.turn++];
  change(id, [](Transfer& transfer) {
    --transfer.waiting;
    ++transfer.under_way;
  });
  return id;
}

void Connections::dropped(std::uint32_t id, double slot) {
  ++num_dropped_;
  Transfer& transfer = transfers_[id];
  if (transfer.lost++ == 0) {
    transfer.acks = 0;
    transfer.life = slot;
    timers_.push({slot + rules_.resend_slots, id});
  }
}

void Connections::send_again(Transfer& transfer, double window) {
  transfer.waiting += transfer.lost;
  transfer.under_way -= transfer.lost;
  transfer.lost = 0;
  transfer.threshold = std::max(2.0, transfer.window / 2);
  transfer.window = window > 0 ? window : transfer.threshold;
}

void Connections::acknowledge(std::uint32_t id, double slot) {
  constexpr std::uint32_t enough_acks = 3;
  change(id, [&](Transfer& transfer) {
    --transfer.under_way;
    transfer.life = slot;
    if (transfer.lost > 0) {
      if (++transfer.acks >= enough_acks) send_again(transfer, 0);
    } else {
      transfer.window += transfer.window < transfer.threshold ? 1 : 1 / transfer.window;
    }
  });
}

void Connections::begin_slot(double slot) {
  while (!acks_.empty() && acks_.front().slot <= slot) {
    const Due ack = acks_.front();
    acks_.pop_front();
    acknowledge(ack.transfer, ack.slot);
  }
  while (!timers_.empty() && timers_.top().slot <= slot) {
    const std::uint32_t id = timers_.top().transfer;
    timers_.pop();
    const Transfer& transfer = transfers_[id];
    if (transfer.lost == 0) continue;
    if (transfer.life + rules_.resend_slots > slot) {
      timers_.push({transfer.life + rules_.resend_slots, id});
      continue;
    }
    ++num_timeouts_;
    change(id, [&](Transfer& lossy) { send_again(lossy, 1); });
  }
}

std::optional<double> Connections::next_event() const {
  std::optional<double> next;
  if (!acks_.empty()) next = acks_.front().slot;
  if (!timers_.empty()) next = std::min(next.value_or(timers_.top().slot), timers_.top().slot);
  return next;
}

}  // namespace nuice::machine
