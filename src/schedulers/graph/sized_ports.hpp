// SPDX-License-Identifier: BSD-3-Clause
// The messages, or pieces of them, that are not yet scheduled, largest first: for all ranks together, and for
// each rank's two ports, one for sending and one for receiving. 32 bytes per message.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "schedulers/graph/pieces.hpp"

namespace nuice::sched {

using Port = std::uint32_t;   // 0 .. num_ranks - 1 send, the others receive
using Place = std::uint32_t;  // a message's position in the order of sizes; the largest has 0

class SizedPorts {
 public:
  struct Ends {
    Port sender;
    Port receiver;
  };
  struct AtPort {
    Place place;
    Port partner;  // the port at the other end of the message
  };

  /// The matrix must live as long as this object.
  SizedPorts(const CommMatrix& matrix, Pieces pieces);

  Port num_senders() const { return num_senders_; }
  Port num_ports() const { return 2 * num_senders_; }
  Place num_messages() const { return static_cast<Place>(pieces_.messages.size()); }

  const Pieces& pieces() const { return pieces_; }
  MessageId id(Place place) const { return pieces_.messages[place]; }
  Bytes bytes(Place place) const {
    return pieces_.bytes.empty() ? matrix_->bytes(id(place)) : pieces_.bytes[place];
  }
  Ends ends(Place place) const { return ends_[place]; }
  Port sender(Place place) const { return ends_[place].sender; }
  Port receiver(Place place) const { return ends_[place].receiver; }

  /// Returns the first message of the same size. same_size_end() returns the first smaller message.
  Place same_size_begin(Place place) const;
  Place same_size_end(Place place) const { return same_size_end_[place]; }

  /// Returns the messages that are left at a port, by ascending place.
  std::span<const AtPort> left(Port port) const { return {at_port_.data() + begin_[port], num_left_[port]}; }
  /// Returns how many of the messages left at a port come before `place`.
  std::size_t num_before(Port port, Place place) const {
    const auto all = left(port);
    return all.empty() || all.front().place >= place ? 0 : count_before(all, place);
  }
  /// Returns the first message at or after `place` that is left; num_messages() if none is left.
  Place next_left(Place place) const {
    std::size_t at = place / word_bits;
    std::uint64_t word = is_left_[at] & (all_bits << place % word_bits);
    while (word == 0) word = is_left_[++at];
    return static_cast<Place>(at * word_bits + static_cast<std::size_t>(std::countr_zero(word)));
  }
  /// Callers pass the message's sender and receiver, because looking them up would access distant memory.
  void remove(Place place, Port sender, Port receiver);

 private:
  static constexpr std::size_t word_bits = 64;
  static constexpr std::uint64_t all_bits = ~std::uint64_t{0};

  static std::size_t count_before(std::span<const AtPort> all, Place place);
  void remove(Port port, Place place);

  const CommMatrix* matrix_;
  Port num_senders_;
  Pieces pieces_;                        // by place
  std::vector<Ends> ends_;               // by place
  std::vector<Place> same_size_end_;     // by place
  std::vector<std::uint64_t> is_left_;   // one bit per place, and a last bit that stays set
  std::vector<AtPort> at_port_;          // for each port: the messages that are left, with free space between
                                         // ports
  std::vector<std::size_t> begin_;       // by port: its first message in at_port_
  std::vector<std::uint32_t> num_left_;  // by port
};

}  // namespace nuice::sched
