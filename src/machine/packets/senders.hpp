// SPDX-License-Identifier: BSD-3-Clause
// What ranks put into the network and when: an executor's view of a schedule, in packets.
//
// A transfer has gates: its sender's and (above the eager limit) its receiver's phase, what it forwards, the transfers that
// it depends on. When the last one opens, the sender's processor spends send_overhead and start_up on it, and its packets
// may go. Of several such transfers a rank sends a packet each in turn, as network cards share a port among queue pairs.
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

/// Times in slots.
struct PacketTimes {
  double send = 0;     ///< Of a processor, for every message.
  double message = 0;  ///< From the last packet in until the receiver knows.
  double notice = 0;   ///< From one rank's knowing to another's.
  double handshake = 0;
  double phase = 0;
};

class Senders {
 public:
  struct Rules {
    Pace pace;
    PacketTimes times;
    std::uint32_t early = 0;  // packets
  };

  /// packets: by move. eager: by move. before: for notices, else empty.
  Senders(const Program& program, std::vector<std::uint32_t> packets, const std::vector<bool>& eager,
          const Dependencies* before, const Rules& rules);

  /// On its way from a rank to another.
  struct Notice {
    Rank from;
    Rank to;
    std::uint32_t transfer;  ///< That may go.
  };
  /// What carries them, and calls is_told() when they are there. Required where there are any.
  void set_carrier(std::function<void(const Notice&)> carry) { carry_ = std::move(carry); }
  void is_told(const Notice& notice, double slot);
  /// What is due by this slot.
  void begin_slot(double slot);
  bool has_packet(Rank rank) const { return !ready_[at(rank)].transfers.empty(); }
  /// Takes a packet off. Requires has_packet().
  std::uint32_t next(Rank rank);
  /// The packet that it took off as the n-th of its transfer, from 0.
  std::uint32_t packets_sent(std::uint32_t transfer) const {
    return moving_[transfer].packets - moving_[transfer].unsent;
  }
  void arrives(std::uint32_t transfer, double slot);

  bool is_done() const { return incomplete_ == 0; }
  /// The slot of what happens next by itself; none if nothing does.
  std::optional<double> next_event() const;
  /// Ranks that have packets to send now.
  std::uint32_t num_ready() const { return num_ready_; }
  /// Of a rank that waits: for errors.
  Rank first_waiting() const;

 private:
  struct Moving {  // a transfer
    std::uint32_t packets = 0;
    std::uint32_t unsent = 0;
    std::uint32_t missing = 0;
    std::uint32_t gates = 0;
    std::uint32_t may_go = 0;  // and not sent
    bool told = false;         // notices have been given
  };
  struct Ready {
    std::vector<std::uint32_t> transfers;
    std::size_t turn = 0;
  };
  /// A rank's transfers of a phase, both ways.
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
    std::uint32_t id;  // transfer, rank or phase
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
  std::vector<bool> waits_for_receiver_;           // by move
  std::vector<std::vector<std::uint32_t>> after_;  // by transfer: those that depend on it
  std::vector<Ready> ready_;                       // by rank
  std::vector<Stages> stages_;                     // by rank; empty: no phases
  std::vector<double> busy_until_;                 // by rank: its processor
  std::vector<Event> events_;                      // a heap, earliest first
  std::uint64_t pushed_ = 0;
  std::uint32_t num_ready_ = 0;
  std::size_t incomplete_ = 0;
};

}  // namespace nuice::machine
