// SPDX-License-Identifier: BSD-3-Clause
// A guard for MPI calls that block, have no other form, and may never end if a rank has died. They make
// windows and communicators, or are one-sided operations. They cannot end with an Error.
//
//   Guard guard(rank, watchdog_s);
//   guard.watch(neighbours);                          // detects deaths on this host from now on
//   const Guard::Call call(guard, "MPI_Win_flush");   // until it is destroyed
//   MPI_Win_flush(...);
//
// A thread checks how long the same call has been active. The process ends with exit code 1 after watchdog_s
// (0: never), after a moment if a neighbour is dead, and after two seconds if the launcher has ended. It
// prints on stderr the text that an Error would have had. Without the guard the process would never end. A
// guarded call costs two stores. The thread checks 20 times per second.
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

  /// Must not be called inside a Call of another thread. The guard copies the neighbours.
  void watch(const Neighbours& neighbours);

  class Call {
   public:
    /// name: a string literal.
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
  std::mutex mutex_;  // protects the members below
  std::condition_variable ends_;
  bool has_ended_ = false;
  std::optional<Neighbours> neighbours_;
  std::thread thread_;
};

}  // namespace nuice::am::mpi
