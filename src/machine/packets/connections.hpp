// SPDX-License-Identifier: BSD-3-Clause
// Senders that lose packets and send them again, as TCP does: each transfer has a window of packets on their way.
//
//   window    `first_window`; one more for every acknowledgement until the first loss, then one more for every window
//   loss      known when three packets of the transfer have been acknowledged since, else `resend_slots` after the last
//             sign of life; the window is halved, after a timeout it is 1 (Jacobson 1988)
//
// Acknowledgements take `ack_slots` and are never lost. A packet that has arrived is never retransmitted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::machine {

class Connections {
 public:
  struct Rules {
    double first_window = 10;
    double resend_slots = 0;
    double ack_slots = 1;
  };

  Connections(Rank num_ranks, std::size_t num_transfers, const Rules& rules)
      : rules_(rules), transfers_(num_transfers), ready_(static_cast<std::size_t>(num_ranks)) {
    for (Transfer& transfer : transfers_) transfer.window = rules.first_window;
  }

  /// Another packet of a transfer that `sender` may send.
  void push(Rank sender, std::uint32_t id);
  /// The transfer whose packet goes next: those whose window has room, in turn; none if there is none.
  std::optional<std::uint32_t> next(Rank sender);
  void arrived(std::uint32_t transfer, double slot) { acks_.push_back({slot + rules_.ack_slots, transfer}); }
  void dropped(std::uint32_t id, double slot);

  /// What is due by this slot.
  void begin_slot(double slot);
  /// The slot of what happens next by itself.
  std::optional<double> next_event() const;
  /// Whether any packet waits that could be sent now.
  bool has_packets() const { return num_sendable_ > 0; }

  std::uint64_t num_dropped() const { return num_dropped_; }
  std::uint64_t num_timeouts() const { return num_timeouts_; }

 private:
  struct Transfer {
    Rank sender = no_rank;
    std::uint32_t waiting = 0;    // packets to be sent
    std::uint32_t under_way = 0;  // sent and not acknowledged, those lost included
    std::uint32_t lost = 0;       // and not known to be
    std::uint32_t acks = 0;       // since the first of these
    double window = 0;
    double threshold = 1e9;  // up to here it grows with every acknowledgement
    double life = 0;         // the last sign of it
    bool can_send() const { return waiting > 0 && under_way < static_cast<std::uint32_t>(window); }
  };
  struct Ready {
    std::vector<std::uint32_t> transfers;
    std::size_t turn = 0;
  };
  struct Due {
    double slot;
    std::uint32_t transfer;
    friend bool operator>(const Due& a, const Due& b) { return a.slot > b.slot; }
  };

  /// Changes a transfer, and keeps account of whether it can send.
  template <typename Change>
  void change(std::uint32_t id, Change apply);
  void acknowledge(std::uint32_t id, double slot);
  static void send_again(Transfer& transfer, double window);

  const Rules rules_;
  std::vector<Transfer> transfers_;
  std::vector<Ready> ready_;  // by rank: transfers that can send
  std::deque<Due> acks_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> timers_;  // some too early: looked at again
  std::uint64_t num_sendable_ = 0;                                     // transfers
  std::uint64_t num_dropped_ = 0;
  std::uint64_t num_timeouts_ = 0;
};

}  // namespace nuice::machine
