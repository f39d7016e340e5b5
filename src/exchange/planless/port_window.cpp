// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/planless/port_window.hpp"

#include <algorithm>
#include <climits>

namespace nuice::mpi {
namespace {

/// The ladder of windows ends here: a port of 400 Gbit/s carries it in 0.3 ms.
constexpr Bytes largest_window_bytes = Bytes{16} << 20;

exchange::WindowBounds with_top(exchange::WindowBounds bounds) {
  if (bounds.adapts) bounds.most_bytes = std::min(bounds.window_bytes, largest_window_bytes);
  bounds.chunk_bytes = std::min<Bytes>(bounds.chunk_bytes, INT_MAX);
  return bounds;
}

}  // namespace

PortWindow::PortWindow(const exchange::WindowBounds& bounds) : control_(with_top(bounds)) {
  window_bytes_ = first_bytes_ = control_.first_window_bytes();
}

void PortWindow::begin(double now_s, Bytes bytes, bool is_alone) {
  is_counted_ = control_.adapts() && is_alone && bytes > 2 * control_.window_bytes();
  landed_ = 0;
  bytes_ = bytes;
  begin_s_ = now_s;
  window_bytes_ = first_bytes_ = control_.first_window_bytes();
  if (!is_counted_) return;
  if (usual_bytes_ == 0) usual_bytes_ = bytes;
  control_.start(0);
}

void PortWindow::land(double now_s, Bytes bytes, double delay_s) {
  landed_ += bytes;
  control_.land(now_s, bytes, delay_s);
  window_bytes_ = std::max(window_bytes_,
                           control_.window_after(std::min(first_bytes_, control_.window_bytes()), landed_));
}

void PortWindow::end(double now_s) {
  if (!is_counted_) return;
  is_counted_ = false;
  control_.finish((now_s - begin_s_) * static_cast<double>(usual_bytes_) / static_cast<double>(bytes_));
  control_.learn(control_.report(0));
}

}  // namespace nuice::mpi
