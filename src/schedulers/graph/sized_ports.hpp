// SPDX-License-Identifier: BSD-3-Clause
// The messages that are left of a matrix, largest first: of all ranks together and of each rank's two
// ports, the one it sends through and the one it receives through. 36 bytes per message.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"

namespace nuice::sched {

using Port = std::uint32_t;   // 0 .. num_ranks - 1 send, the others receive
using Place = std::uint32_t;  // of a message in the order of sizes: 0 is the largest one's

class SizedPorts {
 public:
  struct Ends {
    Port sender;
    Port receiver;
  };

  explicit SizedPorts(const CommMatrix& matrix);

  Port num_senders() const { return num_senders_; }
  Port num_ports() const { return 2 * num_senders_; }
  Place num_messages() const { return static_cast<Place>(ids_.size()); }

  MessageId id(Place place) const { return ids_[place]; }
  Bytes bytes(Place place) const { return bytes_[place]; }
  Ends ends(Place place) const { return ends_[place]; }
  Port sender(Place place) const { return ends_[place].sender; }
  Port receiver(Place place) const { return ends_[place].receiver; }
  Port other_end(Port port, Place place) const {
    return port < num_senders_ ? ends_[place].receiver : ends_[place].sender;
  }

  /// The first message as large as this one, and the first smaller one.
  Place same_size_begin(Place place) const;
  Place same_size_end(Place place) const { return same_size_end_[place]; }

  /// What is left at a port, by ascending place.
  std::span<const Place> left(Port port) const { return {places_.data() + begin_[port], num_left_[port]}; }
  /// The first place from `place` on that is left; num_messages() if none.
  Place next_left(Place place) { return next_[place] == place ? place : follow(place); }
  void remove(Place place);

 private:
  Place follow(Place place);
  void remove(Port port, Place place);

  Port num_senders_;
  std::vector<MessageId> ids_;           // by place
  std::vector<Bytes> bytes_;             // by place
  std::vector<Ends> ends_;               // by place
  std::vector<Place> same_size_end_;     // by place
  std::vector<Place> next_;              // by place: itself while it is left, otherwise a later place
  std::vector<Place> places_;            // of each port what is left, then free room
  std::vector<std::size_t> begin_;       // by port: in places_
  std::vector<std::uint32_t> num_left_;  // by port
};

}  // namespace nuice::sched
