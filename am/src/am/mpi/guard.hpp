// SPDX-License-Identifier: BSD-3-Clause
// For calls of MPI that block, have no other form, and may never end when a rank has died: what makes windows and
// communicators, and one-sided operations. No Error can come out of them.
//
//   Guard guard(rank, watchdog_s);
//   guard.watch(neighbours);                          // from here on deaths on this host are seen too
//   const Guard::Call call(guard, "MPI_Win_flush");   // until the end of its life
//   MPI_Win_flush(...);
//
// A thread checks whether the same call is still active. When it has been for watchdog_s (0: no limit), or for a moment and a
// neighbour is dead, or for two seconds and the launcher is gone, the process ends, exit code 1, and says on stderr
// what the Error would have said. Every MPI program that has lost a rank ends like this in the end; without it, it would not end.
// Cost of a call: two stores. The thread looks 20 times a second.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "am/mpi/processes.hpp"

namespace nuice::am::mpi {

class Guard {
 public:
  Guard(Rank rank, double watchdog_s);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  /// Not inside a Call of another thread. It looks at a copy.
  void watch(const Neighbours& neighbours);

  class Call {
   public:
    /// name: of a literal.
    Call(Guard& guard, const char* name) : guard_(guard) {
      guard_.name_.store(name, std::memory_order_relaxed);
      guard_.count_.fetch_add(1, std::memory_order_release);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { guard_.count_.fetch_add(1, std::memory_order_release); }

   private:
    Guard& guard_;
  };

 private:
  void run();
  void look(double seconds);

  const Rank rank_;
  const double watchdog_s_;
  std::atomic<std::uint64_t> count_ = 0;  // odd: inside a call
  std::atomic<const char*> name_ = "";
  std::mutex mutex_;  // of what follows
  std::condition_variable ends_;
  bool has_ended_ = false;
  std::optional<Neighbours> neighbours_;
  std::thread thread_;
};

}  // namespace nuice::am::mpi
