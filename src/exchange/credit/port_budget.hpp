// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a host have still to receive over its port, and to send, in memory that they share. Their shares of the host's window
// are as the bytes that are left: who is through leaves its own to the others, so that the port is busy to the end.
//
// Counters only grow, so nothing is to be reset between exchanges. A rank that is exchanges ahead makes what is left seem less; nobody
// has more than the whole window all the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "nuice/core/types.hpp"

namespace nuice::mpi {

class PortBudget {
 public:
  /// One direction, of one exchange bound on all ranks of a host. All zero at first.
  struct Counters {
    alignas(64) std::atomic<Bytes> of_exchange;  // of all ranks
    std::atomic<Bytes> done;                     // in all exchanges
  };

  PortBudget() = default;
  /// When bound; all ranks before any begins. counters: null: nobody shares.
  PortBudget(Counters* counters, Bytes own) : counters_(counters), own_(own) {
    if (counters_ != nullptr) counters_->of_exchange.fetch_add(own, std::memory_order_relaxed);
  }
  void start() {
    ++exchange_;
    left_ = own_;
  }
  void note(Bytes bytes) {
    left_ -= bytes;
    if (counters_ != nullptr) counters_->done.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// Of what is left on this host; 0: nobody shares.
  double share() const {
    if (counters_ == nullptr || left_ == 0) return 0;
    const Bytes all = exchange_ * counters_->of_exchange.load(std::memory_order_relaxed) -
                      counters_->done.load(std::memory_order_relaxed);
    return static_cast<double>(left_) / static_cast<double>(std::max(all, left_));
  }

 private:
  Counters* counters_ = nullptr;
  Bytes own_ = 0;
  Bytes left_ = 0;  // of the running exchange
  std::int64_t exchange_ = 0;
};

}  // namespace nuice::mpi
