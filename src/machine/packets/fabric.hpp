// SPDX-License-Identifier: BSD-3-Clause
// Moves packets slot by slot. In a slot every cable carries at most one packet, and every input of a switch
// sends at most one packet:
//   each output takes a packet from the next input that has a packet for this output, if the buffer to
//   which the output leads has room; then all packets move at once, so a packet that leaves a buffer makes
//   room only for the next slot
//
// Notices are so short that they need no slot, no room and no turn. But they wait in the same queues as
// packets, behind earlier packets.
//
// A wire of capacity c has ceil(c) cables of speed c / ceil(c) each. An input has a buffer of buffer_packets
// for each virtual lane. With fifo a lane has one queue, with voq it has a queue for every output.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/packets/routes.hpp"

namespace nuice::machine {

class Fabric {
 public:
  Fabric(const Routes& routes, Queueing queueing, int buffer_packets);

  /// Returns whether a rank's port accepts a packet in this slot.
  bool takes(Rank rank) const { return room_[cable_of_port(rank) << lane_bits_] > 0; }
  /// Sends a packet of `transfer` over the route that begins with hops()[first_hop]. Requires takes(rank).
  /// Call it at most once per rank and slot.
  void inject(Rank rank, std::uint32_t transfer, std::uint32_t first_hop);

  /// Sends a notice, regardless of takes().
  void inject_notice(Rank rank, std::uint32_t notice, std::uint32_t first_hop);

  /// Advances by one slot. Moves also the packets that were injected since the last call. Calls
  /// arrive(transfer) for each packet that reaches its end, and told(notice) for each notice.
  template <typename Arrive, typename Told>
  void step(Arrive arrive, Told told) {
    // Repeats until all remaining notices are behind packets. When the first notice of a queue leaves, the
    // next one may be added to notices_.
    for (std::size_t i = 0; i < notices_.size(); ++i) {  // NOLINT(modernize-loop-convert)
      const std::uint32_t packet = take_notice(notices_[i]);
      const std::uint32_t notice = packets_[packet].transfer & ~notice_bit;
      if (goes_out(packet)) told(notice);
    }
    notices_.clear();
    arbitrate();
    for (const Move& move : moves_) leave(move);
    for (const Move& move : moves_) {
      const std::uint32_t transfer = packets_[move.packet].transfer;
      if (enter(move)) arrive(transfer);
    }
    moves_.clear();
    ++slot_;
  }

  /// Advances by this number of slots, in which nothing moves. Requires is_empty().
  void skip(std::uint64_t slots) { slot_ += slots; }

  bool is_empty() const { return num_packets_ == 0; }
  std::uint64_t packet_hops() const { return packet_hops_; }

 private:
  static constexpr std::uint32_t none = ~0U;
  static constexpr std::uint32_t notice_bit = 1U << 31U;

  struct Packet {
    std::uint32_t transfer;  // for a notice: its number combined with notice_bit
    std::uint32_t hop;       // the next hop
    std::uint32_t next;      // the next packet in its queue or in the free list
  };
  struct Queue {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };
  struct First {  // a notice at the front of its queue
    std::uint32_t queue;
    std::uint32_t from;  // its place: cable and lane
  };
  struct Output {  // a wire, seen from the switch at its beginning
    WireId wire = 0;
    std::uint32_t first_cable = 0;  // none: the wire leads to a rank
    std::uint32_t num_cables = 1;
    std::uint32_t turn = 0;         // the place whose packets are tried next
    std::uint32_t first_queue = 0;  // voq: the first of its queues, one per place
    std::size_t first_word = 0;     // index into wanted_
    double interval = 1;            // slots between two packets of a cable
  };
  struct Switch {
    std::uint32_t first_output = 0;
    std::uint32_t num_outputs = 0;
    // The next two members describe the incoming cables; the lanes of these cables are the switch's places.
    std::uint32_t first_cable = 0;
    std::uint32_t num_cables = 0;
    std::uint32_t num_words = 0;  // words for one bit per place
    std::uint32_t num_packets = 0;
  };
  struct Move {
    std::uint32_t packet;
    std::uint32_t from;   // the place that it leaves; none: it comes from a rank
    std::uint32_t queue;  // the queue that it leaves
    std::uint32_t output;
    std::uint32_t cable;  // none: it goes to a rank
  };

  std::uint32_t cable_of_port(Rank rank) const { return cable_of_port_[static_cast<std::size_t>(rank)]; }
  void lay_cables(const Routes& routes);
  void lay_outputs(const Routes& routes);
  void arbitrate();
  void serve(const Switch& at, std::uint32_t id);
  bool take_next(const Switch& at, std::uint32_t id, std::uint32_t cable);
  std::uint32_t queue_of(const Output& output, const Switch& at, std::uint32_t place) const {
    return queueing_ == Queueing::voq ? output.first_queue + place : (at.first_cable << lane_bits_) + place;
  }
  void leave(const Move& move);
  bool enter(const Move& move);
  bool is_notice(std::uint32_t packet) const { return (packets_[packet].transfer & notice_bit) != 0; }
  std::uint32_t make_packet(std::uint32_t transfer, std::uint32_t hop);
  std::uint32_t take_notice(First first);
  bool goes_out(std::uint32_t notice);
  void append(std::uint32_t packet, std::uint32_t to);
  void show_first(std::uint32_t queue, std::uint32_t from);
  void forget(std::uint32_t packet);
  void want(std::uint32_t output, std::uint32_t place, bool wanted);

  const Queueing queueing_;
  std::span<const Hop> hops_;
  int lane_bits_ = 0;  // binary logarithm of the lanes per cable
  std::vector<std::uint32_t> cable_of_port_;
  std::vector<Output> outputs_;             // by switch
  std::vector<std::uint32_t> output_of_;    // by wire
  std::vector<std::uint32_t> first_cable_;  // by wire; none: the wire leads to a rank
  std::vector<std::uint32_t> num_cables_;   // by wire
  std::vector<Switch> switches_;            // by vertex
  std::vector<std::uint32_t> switch_of_;    // by cable: the switch at its end
  std::vector<std::uint32_t> room_;         // by place (cable and lane): free room of the buffer
  std::vector<double> free_at_;             // by cable: the slot of its next packet
  // For each cable: one more than the slot in which its input last sent a packet.
  std::vector<std::uint64_t> taken_in_;
  std::vector<std::uint64_t> wanted_;  // by output: a bit for each place that has a packet for it
  std::vector<Queue> queues_;
  std::vector<Packet> packets_;
  std::uint32_t free_packet_ = none;
  std::vector<Move> moves_;
  std::vector<First> notices_;
  std::uint64_t slot_ = 0;
  std::uint64_t num_packets_ = 0;
  std::uint64_t packet_hops_ = 0;
};

}  // namespace nuice::machine
