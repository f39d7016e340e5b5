// SPDX-License-Identifier: BSD-3-Clause
// Calls of the observer, if the program has set one.
#pragma once

#include <atomic>
#include <cstdint>

#include "nuice/mpi/observer.hpp"

namespace nuice::mpi {

/// The observer; null if there is none.
extern std::atomic<const Observer*> current_observer;

inline void observe_begin(Region region, std::int64_t which) {
  const Observer* const observer = current_observer.load(std::memory_order_relaxed);
  if (observer != nullptr && observer->begin != nullptr) [[unlikely]]
    observer->begin(observer->data, region, which);
}

inline void observe_end(Region region, std::int64_t which) {
  const Observer* const observer = current_observer.load(std::memory_order_relaxed);
  if (observer != nullptr && observer->end != nullptr) [[unlikely]]
    observer->end(observer->data, region, which);
}

/// Reports the beginning of a region to the observer in its constructor, and the end in its destructor.
class Observed {
 public:
  explicit Observed(Region region, std::int64_t which = 0) : region_(region), which_(which) {
    observe_begin(region, which);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  ~Observed() { observe_end(region_, which_); }

 private:
  Region region_;
  std::int64_t which_;
};

}  // namespace nuice::mpi
