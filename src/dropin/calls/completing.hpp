// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for requests of which some may be ours, as loops of tests that look after all exchanges under way.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <span>
#include <vector>

#include "dropin/background.hpp"

namespace nuice::dropin {

class Awaited {
 public:
  /// get(i): the i-th request's handle, before the call takes it away.
  template <typename Get>
  Awaited(int count, Get&& get) {
    if (!background().any() && !background().has_failed()) return;
    for (int i = 0; i < count; ++i) requests_.push_back(get(i));
  }

  /// wait(), as long as anything is under way by test(is_done) instead. Both give codes of MPI.
  template <typename Test, typename Wait>
  int until(Test&& test, Wait&& wait) {
    const auto is_hopeless = [&] {
      return requests_.size() == 1 && background().is_under_way(requests_.front());
    };
    bool is_done = false;
    int code = MPI_SUCCESS;
    background().wait_for(requests_, [&] {
      // Two calls a turn that find nothing would give the core away twice.
      if (background().any() && !is_hopeless()) code = test(is_done);
      return is_done || code != MPI_SUCCESS || !background().any();
    });
    if (is_done || code != MPI_SUCCESS) return code;
    const Leaving leaving;
    return wait();
  }

  /// After a call that has completed the requests at these places: code, or of one that has failed, whose communicator's handler was told.
  /// tell(i, code): of the i-th of these.
  template <typename Tell>
  int verdict(int code, int count, const int* places, Tell&& tell) const {
    if (requests_.empty() || !background().has_failed()) return code;
    for (int i = 0; i < count; ++i) {
      const int place = places == nullptr ? i : places[i];
      if (place < 0 || static_cast<std::size_t>(place) >= requests_.size()) continue;
      const int own = background().verdict(requests_[static_cast<std::size_t>(place)]);
      if (own != MPI_SUCCESS) code = tell(i, own);
    }
    return code;
  }

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace nuice::dropin
