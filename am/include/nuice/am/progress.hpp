// SPDX-License-Identifier: BSD-3-Clause
// Makes progress for a rank that computes and does not poll (002 s.4.4: polling against interrupts).
//
// The first choice is polling: poll_every, or poll() in the program's loop. If this is not possible, use
// Interruptible: a sender on the same host raises a signal in the computing rank, which receives the messages
// and continues. Interruptible costs nothing while no messages arrive. The last resort is ProgressThread, for
// transports without a doorbell. It needs MPI_THREAD_MULTIPLE, and if no core is idle, it takes time from the
// rank.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

/// While the object exists, handlers of messages from ranks of the same host (transport shm; loop-back) run
/// at once, between any two instructions of the thread that made the object. So access data that handlers use
/// only under a Mask. If handlers allocate or throw, allocate memory only under a Mask. Endpoint's own calls
/// mask themselves. An error in a handler is kept, and the next poll() throws it.
///
/// Other messages wait for the next poll as usual:
/// * messages from other hosts;
/// * puts (the sender of bulk data stays in put() until this rank polls), results of calls, level marks, and
///   later messages of the same rank;
/// * messages that a handler sends, if there is no room at their receiver or they go to another host. They
///   are kept in memory reserved for four of the largest messages. While this memory has no room for another
///   largest message, no more messages are received. The endpoint may allocate only if a handler sends more
///   than one largest message, counting all items of a batch.
///
/// The signal's action is set at the first use and stays set. SIGURG is ignored by default, so a late signal
/// does no harm.
class Interruptible {
 public:
  /// Throws Error `not_applicable` if the transport has no doorbell, and `state` if another Interruptible or
  /// a ProgressThread is active.
  explicit Interruptible(Endpoint& endpoint, int signal = SIGURG);
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();

 private:
  EndpointCore& core_;
};

/// Blocks interrupts and the progress thread while it exists. Messages that arrive meanwhile are handled when
/// the last mask is destroyed. Masks may be nested. A mask costs a few nanoseconds. If neither interrupts nor
/// a progress thread are in use, it costs nothing.
class Mask {
 public:
  explicit Mask(Endpoint& endpoint);
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;
  ~Mask();

 private:
  EndpointCore& core_;
};

/// While the object exists, a thread polls every `period`. Handlers run in that thread, one at a time. They
/// never run while the rank is inside a call of the endpoint or holds a Mask. Throws Error `not_applicable`
/// if MPI does not offer MPI_THREAD_MULTIPLE, and `state` if an Interruptible or another ProgressThread is
/// active.
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
