// SPDX-License-Identifier: BSD-3-Clause
// Slots for requests that run at the same time, some for ranks of other hosts and some for those of this one, so that
// neither kind of traffic waits for the other's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nuice::mpi {

class SlotPool {
 public:
  /// More requests than this wait for a slot. Enough for a window of small chunks, few enough that MPI looks through them
  /// quickly.
  static constexpr std::int64_t most = 256;

  SlotPool() = default;
  /// For so many requests in all, all of whose slots are free.
  SlotPool(std::int64_t num_far, std::int64_t num_near)
      : num_far_(static_cast<std::size_t>(std::min(num_far, most))),
        num_near_(static_cast<std::size_t>(std::min(num_near, most))) {
    far_.reserve(num_far_);
    near_.reserve(num_near_);
    free_all();
  }

  std::size_t size() const { return num_far_ + num_near_; }
  bool any(bool near) const { return near ? !near_.empty() : !far_.empty(); }
  /// Requires any(near). The lowest number first while none has been given back.
  std::size_t take(bool near) {
    std::vector<std::size_t>& free = near ? near_ : far_;
    const std::size_t slot = free.back();
    free.pop_back();
    return slot;
  }
  void give_back(std::size_t slot, bool near) { (near ? near_ : far_).push_back(slot); }
  void free_all() {
    far_.clear();
    near_.clear();
    for (std::size_t slot = num_far_; slot-- > 0;) far_.push_back(slot);
    for (std::size_t slot = size(); slot-- > num_far_;) near_.push_back(slot);
  }

 private:
  std::size_t num_far_ = 0;
  std::size_t num_near_ = 0;
  std::vector<std::size_t> far_;  // free slots
  std::vector<std::size_t> near_;
};

}  // namespace nuice::mpi
