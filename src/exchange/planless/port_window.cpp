// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/planless/port_window.hpp"

#include <algorithm>
#include <climits>
#include <cmath>

namespace nuice::mpi {
namespace {

constexpr Bytes least_at_first = 2 * exchange::least_window_bytes;
// One from each of four senders. More of them cost packets: 16 hosts of `fast`, 64 KiB from 8 partners, took 124 ms with eight and 116 with four.
constexpr Bytes chunks_in_window = 4;
constexpr double window_over_bdp = 2;
constexpr Bytes windows_that_tell_the_rate =
    4;  // what came before this rank looked counts for a fourth at most

constexpr std::int64_t exchanges_in_block = 4;    // of which one is looked at for losses
constexpr std::int64_t exchanges_to_connect = 2;  // the first ones make the connections
// As window_control.cpp has it: above, it is the queue that overflows.
constexpr double share_that_may_be_lost = 0.005;
constexpr double share_of_few = 0.001;
// A busy processor lets timers end that nothing was lost for: one segment of a short exchange is a large share of it and says nothing.
constexpr double segments_to_judge = 400;
constexpr double segments_that_say_nothing = 1;

// PortKnowledge::losses.
constexpr std::int64_t levels = 8;
constexpr std::int64_t most_levels_down = 4;
std::int64_t levels_down(std::int64_t losses) { return losses % levels; }
std::int64_t times_larger(std::int64_t losses) { return losses / levels; }

/// Blocks without loss before a larger window is tried.
std::int64_t patience(std::int64_t losses) {
  return std::int64_t{8} << std::min<std::int64_t>(times_larger(losses), 6);
}

}  // namespace

void PortKnowledge::hear(const PortKnowledge& other) {
  bytes_per_s = std::max(bytes_per_s, other.bytes_per_s);
  delay_ns = std::min(delay_ns, other.delay_ns);
  losses = std::max(losses, other.losses);
}

PortWindow::PortWindow(const exchange::WindowBounds& bounds) : bounds_(bounds) {
  bounds_.chunk_bytes = std::min<Bytes>(bounds_.chunk_bytes, INT_MAX);
  window_bytes_ = first_bytes_ = whole_window_bytes();
}

Bytes PortWindow::window_for(double share) const {
  const auto bound = static_cast<double>(bounds_.window_bytes);
  double window = bound;
  if (bounds_.adapts) {
    const double bdp = known_.bytes_per_s == 0 ? 0
                                               : 1e-9 * static_cast<double>(known_.bytes_per_s) *
                                                     static_cast<double>(known_.delay_ns);
    const double enough = std::max(static_cast<double>(least_at_first), window_over_bdp * bdp);
    window = std::min(bound, enough * std::exp2(-0.5 * static_cast<double>(levels_down(known_.losses))));
  }
  return std::max<Bytes>(1, static_cast<Bytes>(share * window));
}

Bytes PortWindow::chunk_for(Bytes rest, Bytes share) const {
  if (!bounds_.adapts) return bounds_.chunk_bytes;
  const Bytes part = std::max(whole_window_bytes() / chunks_in_window, exchange::segment_bytes);
  return std::min(bounds_.chunk_bytes, rest <= share ? rest : part);
}

/// Half of the window is open at once, the rest as bytes come in: a queue does not have to take all of it from all sides.
void PortWindow::begin(Bytes bytes, bool is_alone) {
  const Bytes window = whole_window_bytes();
  is_counted_ = bounds_.adapts && is_alone && bytes > windows_that_tell_the_rate * window;
  landed_ = 0;
  bytes_ = bytes;
  looks_at_losses_ = is_counted_ && num_counted_ % exchanges_in_block == 0;
  if (looks_at_losses_) losses_.since_last();  // those before were others'
  window_bytes_ = first_bytes_ = bounds_.adapts ? std::max<Bytes>(1, window / 2) : window;
}

void PortWindow::land(double now_s, Bytes bytes, double delay_s) {
  if (landed_ == 0) {
    first_landed_s_ = now_s;
    first_landed_bytes_ = bytes;
  }
  landed_ += bytes;
  if (delay_s > 0)
    known_.delay_ns = std::min(known_.delay_ns, std::max<std::int64_t>(1, std::llround(1e9 * delay_s)));
  window_bytes_ = std::max(window_bytes_, std::min(whole_window_bytes(), first_bytes_ + landed_));
}

void PortWindow::end(double now_s) {
  if (!is_counted_) return;
  is_counted_ = false;
  const double elapsed_s = now_s - first_landed_s_;
  if (elapsed_s > 0)
    known_.bytes_per_s = std::max<std::int64_t>(
        known_.bytes_per_s,
        std::llround(static_cast<double>(bytes_ - first_landed_bytes_) / (elapsed_s * bounds_.share)));
  if (num_counted_++ < exchanges_to_connect) losses_.find_sockets();
  if (looks_at_losses_) look_at_losses();
}

void PortWindow::look_at_losses() {
  const double segments = std::max(1.0, static_cast<double>(bytes_) / exchange::segment_bytes);
  const double lost = lost_segments();
  const bool are_too_many = lossiness_.add(segments, lost);
  if (are_too_many && levels_down(known_.losses) < most_levels_down) ++known_.losses;
  const bool is_quiet = lost <= std::max(segments_that_say_nothing, share_of_few * segments);
  blocks_without_loss_ = is_quiet ? blocks_without_loss_ + 1 : 0;
  if (levels_down(known_.losses) == 0 || blocks_without_loss_ < patience(known_.losses)) return;
  known_.losses += levels - 1;  // once more, and a level less
  blocks_without_loss_ = 0;
}

/// Of this exchange, in whole segments: what was lost on its way shows as what came out of order behind it,
/// or, where everybody does the same, as what this rank had to send again.
double PortWindow::lost_segments() {
  const TcpLosses::Counts losses = losses_.since_last();
  return static_cast<double>(std::max(losses.sent_again, losses.came_out_of_order));
}

bool Lossiness::add(double segments, double lost) {
  segments_ += segments;
  lost_ += lost;
  const bool are_too_many = lost_ > share_that_may_be_lost * std::max(segments_, segments_to_judge);
  if (are_too_many || segments_ >= segments_to_judge) segments_ = lost_ = 0;
  return are_too_many;
}

}  // namespace nuice::mpi
