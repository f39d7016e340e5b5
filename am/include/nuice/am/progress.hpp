// SPDX-License-Identifier: BSD-3-Clause
// Makes progress for a rank that computes and does not poll (002 s.4.4: polling against interrupts).
//
// The first choice is polling: poll_every, or poll() in the loop. If that is not possible, use Interruptible:
// a sender on the same host raises a signal in the computing rank, which receives the messages and continues.
// Interruptible costs nothing while no messages arrive. The last resort is ProgressThread, for transports
// without a doorbell. A ProgressThread needs MPI_THREAD_MULTIPLE, and takes time from the rank if no core is
// idle.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

/// While an Interruptible exists, messages from ranks of the same host (transport shm, or loop-back) run
/// their handlers at once, between any two instructions of the thread that made the object. So hold a Mask
/// when you access data that handlers use. If handlers allocate memory or throw exceptions, also hold a Mask
/// when you allocate memory. Endpoint's own calls use a Mask. An error in a handler is kept, and the next
/// poll() throws it.
///
/// Other messages wait for the next poll as usual:
/// * messages from other hosts;
/// * puts (the sender of bulk data stays in put() until this rank polls), results of calls and level marks,
///   and later messages of the same rank;
/// * messages of a handler that find no room at their receiver, or go to another host. These are kept in
///   memory that is reserved for four messages of the largest size. While this memory has no room for another
///   message of this size, no more messages are received. The endpoint allocates memory only if a handler
///   sends more bytes than one largest message has, counting all items of a batch.
///
/// The signal's action is set at the first use and stays. SIGURG is ignored by default, so a late signal does
/// no harm.
class Interruptible {
 public:
  /// Throws Error with code `not_applicable` if the transport has no doorbell, `state` if another
  /// Interruptible or a ProgressThread is active.
  explicit Interruptible(Endpoint& endpoint, int signal = SIGURG);
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();

 private:
  EndpointCore& core_;
};

/// While a Mask exists, no handler runs in an interrupt or in the progress thread. Messages that arrive
/// during this time are handled when the last mask is destroyed. Masks may be nested. A mask costs a few
/// nanoseconds if an Interruptible or a ProgressThread is active, otherwise nothing.
class Mask {
 public:
  explicit Mask(Endpoint& endpoint);
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;
  ~Mask();

 private:
  EndpointCore& core_;
};

/// While a ProgressThread exists, a thread polls once per `period`. Handlers run in that thread, one at a
/// time, and never while the rank is inside a call of the endpoint or holds a Mask. Throws Error with code
/// `not_applicable` if MPI does not offer MPI_THREAD_MULTIPLE, and `state` as Interruptible does.
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
