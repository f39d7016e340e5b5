// SPDX-License-Identifier: BSD-3-Clause
// Progress for a rank that computes and does not poll (002 s.4.4: polling against interrupts).
//
// First choice is polling: poll_every, or poll() in the loop. Where that cannot be done, Interruptible: a sender on the
// same host raises a signal in the computing rank, which takes the messages in and goes on; nothing is spent while
// none arrive. Last resort is ProgressThread, for transports without a doorbell: it needs MPI_THREAD_MULTIPLE and
// takes time from the rank on a machine without idle cores. Costs of all three: docs/explanation/results.md.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

/// While it lives, messages from ranks of the same host (transport shm; loop-back) run their handlers at once, between
/// any two instructions of the thread that made it. So what handlers touch must be used under a Mask, and memory must
/// be allocated under one if handlers allocate or throw. Endpoint's own calls mask themselves. An error in a handler is
/// kept and thrown by the next poll().
///
/// Wait for the next poll as usual: messages from other hosts; puts (bulk data too: its sender stays in put() until this
/// rank polls), results of calls and level marks, and what the same rank sent behind one of them; what a handler sends that
/// finds no room at its receiver, or goes to another host. That is kept in memory set aside for four of the largest
/// messages; while less than one of them is free no more are taken in. Only a handler that sends more than one largest
/// message, all items of a batch together, may make the endpoint allocate.
///
/// The signal's action is set at the first use and stays; SIGURG is ignored by default, so a late one does no harm.
class Interruptible {
 public:
  /// Throws Error not_applicable if the transport has no doorbell, state if another one or a ProgressThread is active.
  explicit Interruptible(Endpoint& endpoint, int signal = SIGURG);
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();

 private:
  EndpointCore& core_;
};

/// Keeps interrupts and the progress thread out while it lives; what arrived meanwhile is handled when the last mask
/// goes. Masks nest. Costs a few nanoseconds, nothing when neither is on.
class Mask {
 public:
  explicit Mask(Endpoint& endpoint);
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;
  ~Mask();

 private:
  EndpointCore& core_;
};

/// While it lives, a thread polls every `period`. Handlers run in that thread, one at a time and never while the rank
/// is inside a call of the endpoint or holds a Mask. Throws Error not_applicable if MPI does not offer
/// MPI_THREAD_MULTIPLE, state as above.
class ProgressThread {
 public:
  explicit ProgressThread(Endpoint& endpoint,
                          std::chrono::microseconds period = std::chrono::microseconds(50));
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  ~ProgressThread();

 private:
  void run(std::chrono::microseconds period);
  EndpointCore& core_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nuice::am
