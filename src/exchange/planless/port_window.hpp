// SPDX-License-Identifier: BSD-3-Clause
// How many bytes may be on their way to this rank, where ranks do not report to each other: found by this rank alone.
//
// The search is that of the executor credit (window_control.hpp). There the slowest rank of many equal exchanges is the judge; here
// exchanges differ and others may not even take part, so a rank goes by what it sees itself: seconds from the beginning to the last
// arrival for every byte that came from other hosts. Exchanges that two windows hold say nothing and are not counted, nor are those
// that overlap.
#pragma once

#include "exchange/window_control.hpp"
#include "mpi/tcp_losses.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

class PortWindow {
 public:
  explicit PortWindow(const exchange::WindowBounds& bounds);

  Bytes window_bytes() const { return window_bytes_; }
  /// For this rank's sends.
  Bytes window_for(double share) const { return control_.window_for(share); }
  Bytes chunk_bytes() const { return control_.chunk_bytes(); }

  /// An exchange begins in which so many bytes are to come from other hosts; is_alone: no other is under way.
  void begin(double now_s, Bytes bytes, bool is_alone);
  void land(double now_s, Bytes bytes, double delay_s);
  /// All of it is here.
  void end(double now_s);
  const exchange::WindowControl& control() const { return control_; }

 private:
  exchange::WindowControl control_;
  TcpLosses losses_;
  Bytes window_bytes_ = 0;
  Bytes first_bytes_ = 0;
  Bytes landed_ = 0;
  Bytes bytes_ = 0;
  Bytes usual_bytes_ = 0;  // of the first exchange that counted: times are told for so many
  bool is_counted_ = false;
  double begin_s_ = 0;
};

}  // namespace nuice::mpi
