// SPDX-License-Identifier: BSD-3-Clause
// The interface of a transport of active messages. Programs use Endpoint (endpoint.hpp); this header is for
// programs that select or implement a transport. See nuice/mpi/am.hpp (mpi, ucx, shm) and
// nuice/am/loopback.hpp (many ranks in one process).
//
// A transport keeps the order of messages between two ranks, loses no message, and never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/core/types.hpp"

namespace nuice::am {

class RingProducer;
class EndpointCore;
class TerminationDetector;

/// The kind of a message. It is never 0, which means "no message here yet" in rings.
enum class Kind : std::uint8_t {
  message = 1,  ///< One call of a handler.
  batch,        ///< Several calls of one handler; their arguments are contiguous.
  call,         ///< One call of a handler that returns a result; a CallId comes before the argument.
  internal,     ///< A message for the endpoint itself; `handler` is an internal number.
  transport,    ///< A message for the transport itself (credits, end of a ring), which an Inbox never gets.
};

/// The eight bytes before every payload.
struct Header {
  std::uint32_t bytes = 0;    ///< Bytes of the payload.
  std::uint16_t handler = 0;  ///< Position in the order of registration.
  Kind kind = Kind::message;
  std::uint8_t credits = 0;  ///< For the transport's use.
};
static_assert(sizeof(Header) == 8);

enum class ReduceOp { sum, max };

/// An error after which the transport cannot continue (MPI failed, or another rank of a loop-back run threw
/// an exception). Waiting calls throw it.
class TransportError : public Error {
 public:
  using Error::Error;
};

/// Receives messages for an endpoint. The endpoint makes the Inbox, and a transport delivers messages to it.
class Inbox {
 public:
  explicit Inbox(EndpointCore& core) : core_(core) {}

  /// Runs the handler of a message. Throws the handler's exceptions, and Error with code `mismatch` for an
  /// unknown handler or a wrong size.
  void deliver(Rank src, Header header, const std::byte* payload);
  /// Returns whether a message with this header may be delivered inside a signal handler. The result is false
  /// for internal messages, because their handlers may allocate memory and call the transport. It is also
  /// false while no memory is reserved for the messages that the handler sends.
  bool takes_in_signal(Header header) const;
  /// The transport calls this function when bulk data of start_bulk_receive() has arrived.
  void bulk_arrived(std::uint64_t cookie);

  EndpointCore& core() const { return core_; }  ///< Internal to the library.

 private:
  EndpointCore& core_;
};

/// One rank's end of a transport. Only one thread may use it at a time.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual std::string name() const = 0;
  virtual Rank rank() const = 0;
  virtual Rank num_ranks() const = 0;
  /// Returns the largest payload that try_send() accepts, equal on all ranks.
  virtual std::size_t max_message_bytes() const = 0;

  /// Sends a message to another rank; the payload is `a` followed by `b`. Returns false if there is no credit
  /// or no room; the caller then polls, and repeats the call later. The transport copies the payload if it
  /// needs it after the call. Makes no progress and runs no handler.
  virtual bool try_send(Rank dst, Header header, std::span<const std::byte> a,
                        std::span<const std::byte> b) = 0;

  /// Delivers at most about `limit` arrived messages to the inbox, without a copy if possible. Returns the
  /// number of messages.
  virtual int poll(Inbox& inbox, int limit) = 0;

  /// Returns the ring to a rank of the same host; null if there is no ring. Sends to that rank then use the
  /// ring instead of try_send().
  virtual RingProducer* ring_to(Rank) { return nullptr; }

  /// Returns whether there are more runnable ranks than cores. If so, waiting loops yield the core at once.
  virtual bool oversubscribed() const { return false; }
  /// Waiting loops call this function when they have found nothing to do for a while.
  virtual void yield();
  /// Sleeps until a rank of this host sends to this rank or wakes it, or until the time is over. While
  /// quiesce() waits, it calls sleep() instead of yield() if a host has more ranks than cores. is_ready()
  /// returns whether there is another reason to wake up. sleep() returns false if it cannot sleep.
  virtual bool sleep(double /*seconds*/, const std::function<bool()>& /*is_ready*/) { return false; }

  /// Returns the smallest size for which a bulk transfer is faster. A transport may be able to move bulk data
  /// without a copy.
  virtual std::size_t bulk_min_bytes() const { return SIZE_MAX; }
  /// Starts to send bulk data, which must stay unchanged until bulk_sent(key) is true. Returns the key that
  /// the receiver needs.
  virtual std::uint64_t start_bulk_send(Rank dst, std::span<const std::byte> data);
  virtual bool bulk_sent(std::uint64_t key);
  /// Returns whether bulk data is in flight to this rank.
  virtual bool bulk_pending() const { return false; }
  /// Starts to receive bulk data. poll() passes `cookie` to Inbox::bulk_arrived() when the data has arrived.
  virtual void start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                                  std::uint64_t cookie);

  /// The maximum number of values of a reduction. Reductions are collective, one at a time: call
  /// start_reduce() on every rank, then test_reduce() until it returns true. They run no handler.
  static constexpr std::size_t max_reduced = 8;
  virtual void start_reduce(ReduceOp op, std::span<const std::int64_t> values) = 0;
  virtual bool test_reduce(std::span<std::int64_t> result) = 0;

  /// Returns the detector that quiesce() uses if ranks of a host share memory
  /// (am/src/am/transport/termination.hpp). If the result is null, quiesce() uses reductions. All ranks
  /// return a detector, or no rank does.
  virtual TerminationDetector* termination_detector() { return nullptr; }

  /// Returns whether another thread may call these functions, one at a time (ProgressThread).
  virtual bool allows_threads() const { return false; }

  /// Returns the ranks that are known to have died; empty if the transport cannot detect deaths. Waiting
  /// calls ask about every millisecond.
  virtual std::vector<Rank> dead_ranks() { return {}; }
  /// Returns whether the process that started this rank has ended, so that no launcher will end this rank.
  virtual bool is_orphan() const { return false; }

  /// Lets messages interrupt a rank that computes. After arm_doorbell(signal), ranks that send to this rank
  /// raise the signal in the thread that called arm_doorbell(). arm_doorbell() returns false if this
  /// transport cannot do so. Call rearm_doorbell() after a signal, before the last look at the rings.
  /// poll_from_signal() works like poll, but delivers only messages that are safe inside a signal handler. A
  /// message that Inbox::takes_in_signal refuses waits for poll(), and so do the messages after it.
  virtual bool arm_doorbell(int /*signal*/) { return false; }
  virtual void rearm_doorbell() {}
  virtual void disarm_doorbell() {}
  virtual int poll_from_signal(Inbox& /*inbox*/) { return 0; }
};

}  // namespace nuice::am
