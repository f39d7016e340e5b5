// SPDX-License-Identifier: BSD-3-Clause
// The copies that fill the send mirror. All are begun at the start, on their own stream, and end in the order
// of sending.
#pragma once

#include <vector>

#include "device/driver.hpp"
#include "exchange/staging/mirror.hpp"

namespace nuice::mpi {

class Fills {
 public:
  /// sends must outlive this object. If sends has no bytes, there are no copies.
  Fills(const device::Location& at, const Mirror& sends, Bytes chunk_bytes) : sends_(sends) {
    if (!at.is_on_device()) return;
    const device::Current current(at);
    stream_ = device::Stream(at);
    ends_ = ends_of_copies(sends.bytes(), chunk_bytes);
    for (std::size_t i = 0; i < ends_.size(); ++i) filled_.emplace_back(at);
  }

  bool any() const { return !filled_.empty(); }
  const device::Stream& stream() const { return stream_; }
  void begin() {
    num_filled_ = 0;
    for (std::size_t i = 0; i < filled_.size(); ++i) {
      sends_.fill(i == 0 ? 0 : ends_[i - 1], ends_[i], stream_);
      filled_[i].record(stream_.get());
    }
  }

  /// Waits until all bytes before `end` in the mirror are filled.
  void await(Bytes end) {
    for (; filled_bytes() < end; ++num_filled_) filled_[num_filled_].wait();
  }

  bool is_filled(Bytes end) {
    while (filled_bytes() < end) {
      if (!filled_[num_filled_].is_over()) return false;
      ++num_filled_;
    }
    return true;
  }

  /// Makes all work that is put on `other` from now on wait for the last copy.
  void precede(const device::Stream& other) const {
    if (any()) other.wait_for(filled_.back().get());
  }

  void await_all() const {
    if (any()) filled_.back().wait();
  }

 private:
  Bytes filled_bytes() const { return num_filled_ == 0 ? 0 : ends_[num_filled_ - 1]; }

  const Mirror& sends_;
  device::Stream stream_;
  std::vector<Bytes> ends_;            // ends of the copies, ascending
  std::vector<device::Event> filled_;  // events by copy
  std::size_t num_filled_ = 0;         // copies that are known to be over
};

}  // namespace nuice::mpi
