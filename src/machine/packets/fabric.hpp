// SPDX-License-Identifier: BSD-3-Clause
// Packets on their way, slot by slot. In a slot every cable carries one packet at most, and every input of a switch gives
// up one at most:
//
//   each output takes, in turn, the next input whose packet wants it, if the buffer behind it has room
//   then all packets move at once: what leaves a buffer in this slot makes room for the next one
//
// Notices are so short that they take no slot, no room and no turn; but they stand in the same queues, and wait
// there for what is before them.
//
// A wire of capacity c is ceil(c) cables of speed c / ceil(c) each. An input's buffer holds buffer_packets for each
// virtual lane; fifo keeps a lane's packets in one queue, voq in one for every output.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/packets/routes.hpp"

namespace nuice::machine {

class Fabric {
 public:
  Fabric(const Routes& routes, Queueing queueing, int buffer_packets);

  /// Whether a rank's port takes a packet in this slot.
  bool takes(Rank rank) const { return room_[cable_of_port(rank) << lane_bits_] > 0; }
  /// A packet of `transfer` sets out over the route that begins with hops()[first_hop]. Requires takes(), once a slot.
  void inject(Rank rank, std::uint32_t transfer, std::uint32_t first_hop);

  /// A notice sets out, whether takes() or not.
  void inject_notice(Rank rank, std::uint32_t notice, std::uint32_t first_hop);

  /// One slot, the packets injected since the last one included. arrive(transfer) is called for each at its end, and
  /// told(notice).
  template <typename Arrive, typename Told>
  void step(Arrive arrive, Told told) {
    // Until all stand behind packets: the next of a queue is added when its first has gone.
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

  /// That many slots in which nothing moves. Requires is_empty().
  void skip(std::uint64_t slots) { slot_ += slots; }

  bool is_empty() const { return num_packets_ == 0; }
  std::uint64_t packet_hops() const { return packet_hops_; }

 private:
  static constexpr std::uint32_t none = ~0U;
  static constexpr std::uint32_t notice_bit = 1U << 31U;

  struct Packet {
    std::uint32_t transfer;  // of a notice its number and notice_bit
    std::uint32_t hop;       // the next one to take
    std::uint32_t next;      // behind it in its queue, or free
  };
  struct Queue {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };
  struct First {  // a notice that is the first of its queue
    std::uint32_t queue;
    std::uint32_t from;  // place among all
  };
  struct Output {  // a wire, as the switch at its beginning sees it
    WireId wire = 0;
    std::uint32_t first_cable = 0;  // none: to a rank
    std::uint32_t num_cables = 1;
    std::uint32_t turn = 0;         // the next place to ask
    std::uint32_t first_queue = 0;  // voq: of the places
    std::size_t first_word = 0;     // in wanted_
    double interval = 1;            // slots between packets of a cable
  };
  struct Switch {
    std::uint32_t first_output = 0;
    std::uint32_t num_outputs = 0;
    std::uint32_t first_cable = 0;  // coming in; their lanes are its places, that many words of bits
    std::uint32_t num_cables = 0;
    std::uint32_t num_words = 0;
    std::uint32_t num_packets = 0;
  };
  struct Move {
    std::uint32_t packet;
    std::uint32_t from;   // place among all; none: from a rank
    std::uint32_t queue;  // of `from`
    std::uint32_t output;
    std::uint32_t cable;  // none: to a rank
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
  int lane_bits_ = 0;  // lanes of a cable, as a power of two
  std::vector<std::uint32_t> cable_of_port_;
  std::vector<Output> outputs_;             // by switch
  std::vector<std::uint32_t> output_of_;    // by wire
  std::vector<std::uint32_t> first_cable_;  // by wire; none: to a rank
  std::vector<std::uint32_t> num_cables_;   // by wire
  std::vector<Switch> switches_;            // by vertex
  std::vector<std::uint32_t> switch_of_;    // by cable: where it leads
  std::vector<std::uint32_t> room_;         // by place: cable and lane
  std::vector<double> free_at_;             // by cable: the slot of its next packet
  std::vector<std::uint64_t>
      taken_in_;  // by cable: the slot, plus one, in which its input last gave up a packet
  std::vector<std::uint64_t> wanted_;  // by output: bits of the places whose packet wants it
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
