// SPDX-License-Identifier: BSD-3-Clause
// Determines which packets ranks send into the network, and when, if an executor carries out a schedule.
//
// A transfer has gates: the phase of its sender and (above the eager limit) of its receiver, the pieces that
// it forwards, and the transfers on which it depends. When the last gate opens, the sender's processor spends
// send_overhead and start_up on the transfer. Then its packets may leave. If a rank has several such
// transfers, it sends their packets alternately, as network cards share a port among queue pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "machine/simulator/program.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/plan/packets.hpp"

namespace nuice::machine {

/// Times of the simulated machine, in slots.
struct PacketTimes {
  double send = 0;     ///< The time of the sender's processor for every message.
  double message = 0;  ///< The time from the last packet's arrival until the message is received.
  double notice = 0;   ///< The time for a notice from one rank to another.
  double handshake = 0;
  double phase = 0;
};

class Senders {
 public:
  struct Rules {
    Pace pace;
    PacketTimes times;
    std::uint32_t early = 0;  // the number of packets left when a receiver notifies
  };

  /// packets: the number of packets of each transfer. eager: whether each transfer is eager. before: the
  /// dependencies of executors with notices; otherwise empty.
  Senders(const Program& program, std::vector<std::uint32_t> packets, const std::vector<bool>& eager,
          const Dependencies* before, const Rules& rules);

  /// A notice from one rank to another.
  struct Notice {
    Rank from;
    Rank to;
    std::uint32_t transfer;  ///< The transfer that may go.
  };
  /// Sets the function that carries notices, and that calls is_told() when they arrive. Required if there are
  /// notices.
  void set_carrier(std::function<void(const Notice&)> carry) { carry_ = std::move(carry); }
  void is_told(const Notice& notice, double slot);
  /// Handles all events that are due by this slot.
  void begin_slot(double slot);
  bool has_packet(Rank rank) const { return !ready_[at(rank)].transfers.empty(); }
  /// Takes the next packet of a rank and returns its transfer. Requires has_packet().
  std::uint32_t next(Rank rank);
  /// Returns how many packets of the transfer were taken.
  std::uint32_t packets_sent(std::uint32_t transfer) const {
    return moving_[transfer].packets - moving_[transfer].unsent;
  }
  void arrives(std::uint32_t transfer, double slot);

  bool is_done() const { return incomplete_ == 0; }
  /// Returns the slot of the next event, apart from the sending of packets; nothing if there is no such
  /// event.
  std::optional<double> next_event() const;
  /// Returns how many ranks have packets to send now.
  std::uint32_t num_ready() const { return num_ready_; }
  /// Returns a rank that waits, for error texts.
  Rank first_waiting() const;

 private:
  struct Moving {  // a transfer
    std::uint32_t packets = 0;
    std::uint32_t unsent = 0;
    std::uint32_t missing = 0;
    std::uint32_t gates = 0;
    std::uint32_t may_go = 0;  // packets that may go and are not sent
    bool told = false;         // whether its notices have been sent
  };
  struct Ready {
    std::vector<std::uint32_t> transfers;
    std::size_t turn = 0;
  };
  /// The transfers that a rank sends and receives in a phase.
  struct Stage {
    PhaseId phase;
    std::uint32_t left;
    std::vector<std::uint32_t> transfers;
  };
  struct Stages {
    std::vector<Stage> all;
    std::size_t current = 0;
  };
  enum class What : std::uint8_t { opens, goes, enters };
  struct Event {
    double slot;
    std::uint64_t order;
    What what;
    std::uint32_t id;  // a transfer, a rank or a phase
  };

  static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }
  void push(double slot, What what, std::uint32_t id);
  void handle(const Event& event);
  void lay_stages(const std::vector<bool>& eager);
  void lay_dependencies(const Dependencies& before);
  void open(std::uint32_t transfer, double slot);
  void make_ready(std::uint32_t transfer);
  void enter(Rank rank, double slot);
  void leave_stage(Rank rank, PhaseId phase, double slot);
  void complete(std::uint32_t transfer, double slot);
  void tell(std::uint32_t transfer, double slot);
  bool in_phases() const { return !stages_.empty(); }

  const Program& program_;
  const Rules rules_;
  std::function<void(const Notice&)> carry_;
  std::vector<Moving> moving_;
  std::vector<bool> waits_for_receiver_;           // by transfer
  std::vector<std::vector<std::uint32_t>> after_;  // by transfer: the transfers that depend on it
  std::vector<Ready> ready_;                       // by rank
  std::vector<Stages> stages_;                     // by rank; empty: no phases
  std::vector<double> busy_until_;                 // by rank: when its processor is free
  std::vector<Event> events_;                      // a heap, the earliest event in front
  std::uint64_t pushed_ = 0;
  std::uint32_t num_ready_ = 0;
  std::size_t incomplete_ = 0;
};

}  // namespace nuice::machine
