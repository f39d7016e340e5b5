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
  Fills(const device::Location& at, const Mirror& sends, Bytes chunk_bytes);

  bool any() const { return !filled_.empty(); }
  const device::Stream& stream() const { return stream_; }
  void begin();
  /// Waits until all bytes before `end` in the mirror are filled.
  void await(Bytes end);
  bool is_filled(Bytes end);
  /// Makes all work that is put on `other` from now on wait for the last copy.
  void precede(const device::Stream& other) const;
  void await_all() const;

 private:
  Bytes filled_bytes() const { return num_filled_ == 0 ? 0 : ends_[num_filled_ - 1]; }

  const Mirror& sends_;
  device::Stream stream_;
  std::vector<Bytes> ends_;            // ends of the copies, ascending
  std::vector<device::Event> filled_;  // events by copy
  std::size_t num_filled_ = 0;         // copies that are known to be over
};

}  // namespace nuice::mpi
