// SPDX-License-Identifier: BSD-3-Clause
// Slots for requests that run at the same time, some for ranks of other hosts and some for those of this one, so that
// neither kind of traffic waits for the other's.
#pragma once

#include <algorithm>
#include <array>
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
      : counts_{static_cast<std::size_t>(std::min(num_far, most)),
                static_cast<std::size_t>(std::min(num_near, most))} {
    for (const bool near : {false, true}) free_[near].reserve(counts_[near]);
    free_all();
  }

  std::size_t size() const { return counts_[0] + counts_[1]; }
  bool any(bool near) const { return !free_[near].empty(); }
  /// Requires any(near). The lowest number first while none has been given back.
  std::size_t take(bool near) {
    const std::size_t slot = free_[near].back();
    free_[near].pop_back();
    return slot;
  }
  void give_back(std::size_t slot, bool near) { free_[near].push_back(slot); }
  void free_all() {
    for (const bool near : {false, true}) {
      const std::size_t begin = near ? counts_[0] : 0;
      free_[near].clear();
      for (std::size_t i = counts_[near]; i-- > 0;) free_[near].push_back(begin + i);
    }
  }

 private:
  std::array<std::size_t, 2> counts_{};  // by near
  std::array<std::vector<std::size_t>, 2> free_;
};

}  // namespace nuice::mpi
