// SPDX-License-Identifier: BSD-3-Clause
// How many bytes may be on their way to a rank, where ranks do not wait for each other to find it.
//
// Twice what the port carries while the first byte of a grant is on its way (BBR's window: Cardwell et al., 2016), and at least twice
// the first flight of TCP: what a busy processor takes to answer does not show in the least delay. So with a window that is too small the rate
// grows, and the window with it, until the rate is the port's. While packets are lost, as far as TCP tells, it is made smaller, and tried
// larger again after a while, each time after a longer one.
//
// All ranks should have one window: a rank with a larger one than others is sent more than its share, and the queue in front of it is the one
// that overflows (8 hosts, ports of 50 Mbit/s, queues of 32 KiB: 100 ms an exchange with 40 KiB for all, 140 to 260 with 28 to 56). So every
// notice tells what its rank knows, and who hears it knows it too: the greatest rate, the least delay and the greatest number for
// losses come to be the same everywhere, whatever way and how often they are told.
#pragma once

#include <cstdint>
#include <limits>

#include "exchange/window_control.hpp"
#include "mpi/host/tcp_losses.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

/// What ranks tell each other of the network.
struct PortKnowledge {
  std::int64_t bytes_per_s = 0;
  std::int64_t delay_ns = std::numeric_limits<std::int64_t>::max();
  /// How often the window was made larger again, and in the last three bits by how many levels it is smaller now, two to a halving: the
  /// greater number is the newer word, or the more careful one.
  std::int64_t losses = 0;

  void hear(const PortKnowledge& other);
  friend bool operator==(const PortKnowledge&, const PortKnowledge&) = default;
};

/// Judges losses over several exchanges, where one is too short.
class Lossiness {
 public:
  /// So many segments more, of which so many were lost. True: more than a transport may lose of what was seen since the last judgement.
  bool add(double segments, double lost);

 private:
  double segments_ = 0;
  double lost_ = 0;
};

class PortWindow {
 public:
  explicit PortWindow(const exchange::WindowBounds& bounds);

  /// Now, within an exchange.
  Bytes window_bytes() const { return window_bytes_; }
  /// Of whole exchanges, for a rank with this share of its host's port.
  Bytes window_for(double share) const;
  /// For this rank.
  Bytes whole_window_bytes() const { return window_for(bounds_.share); }
  /// Of what a sender has left, its share of the whole window being so many bytes: at once if that holds it, as each chunk costs a packet
  /// that asks for it and those that acknowledge both.
  Bytes chunk_for(Bytes rest, Bytes share) const;
  /// Of a sender that has more left than its share.
  Bytes chunk_bytes() const { return chunk_for(max_bytes, 0); }

  const PortKnowledge& knowledge() const { return known_; }
  void hear(const PortKnowledge& other) { known_.hear(other); }

  /// An exchange begins in which so many bytes are to come from other hosts; is_alone: no other is under way. Exchanges that overlap, or
  /// that a few windows hold, say nothing of the rate.
  void begin(Bytes bytes, bool is_alone);
  /// delay_s after they were asked for; below 0: they were not.
  void land(double now_s, Bytes bytes, double delay_s);
  /// All of it is here.
  void end(double now_s);
  /// It says nothing of the rate, as nobody may look when it lands.
  void stop_measuring() { is_counted_ = looks_at_losses_ = false; }

 private:
  void look_at_losses();
  double lost_segments();

  exchange::WindowBounds bounds_;
  PortKnowledge known_;
  TcpLosses losses_;
  Bytes window_bytes_ = 0;
  Bytes first_bytes_ = 0;
  Bytes landed_ = 0;
  Bytes bytes_ = 0;
  bool is_counted_ = false;
  double first_landed_s_ = 0;
  Bytes first_landed_bytes_ = 0;
  std::int64_t num_counted_ = 0;
  bool looks_at_losses_ = false;
  Lossiness lossiness_;
  int blocks_without_loss_ = 0;
};

}  // namespace nuice::mpi
