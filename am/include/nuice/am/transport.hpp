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

/// The kind of a message. It is never 0, which in rings means that no message is there yet.
enum class Kind : std::uint8_t {
  message = 1,  ///< One call of a handler.
  batch,        ///< Arguments of one handler, contiguous.
  call,         ///< Like `message`, with a CallId before the argument. The sender waits for a result.
  internal,     ///< For the endpoint itself; `handler` is an internal number.
  transport,    ///< A message for the transport itself (credits, end of a ring). An Inbox never gets it.
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

/// An error after which the transport cannot continue: MPI failed, or another rank of a loop-back run threw.
/// Waiting calls throw it.
class TransportError : public Error {
 public:
  using Error::Error;
};

/// Receives messages for an endpoint. The endpoint makes it, and a transport delivers messages to it.
class Inbox {
 public:
  explicit Inbox(EndpointCore& core) : core_(core) {}

  /// Runs the handler. Throws the handler's exceptions, and Error `mismatch` for an unknown handler or a
  /// wrong size.
  void deliver(Rank src, Header header, const std::byte* payload);
  /// Whether such a message may be delivered inside a signal handler. False for internal messages, whose
  /// handlers may allocate and call the transport. Also false while no memory is reserved for the messages
  /// that the handler sends.
  bool takes_in_signal(Header header) const;
  /// Called when bulk data of start_bulk_receive has arrived.
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
  /// Largest payload that try_send accepts, equal on all ranks.
  virtual std::size_t max_message_bytes() const = 0;

  /// Sends a message to another rank. The payload is `a` followed by `b`. If there is no credit or room,
  /// returns false: poll, and repeat the call later. If the payload is needed after the call, it is copied.
  /// Makes no progress and runs no handler.
  virtual bool try_send(Rank dst, Header header, std::span<const std::byte> a,
                        std::span<const std::byte> b) = 0;

  /// Delivers at most about `limit` arrived messages to the inbox, if possible without a copy. Returns the
  /// number of messages.
  virtual int poll(Inbox& inbox, int limit) = 0;

  /// Returns the ring to a rank of the same host. Sends to that rank then use the ring instead of try_send().
  /// Null if there is no ring.
  virtual RingProducer* ring_to(Rank) { return nullptr; }

  /// Whether there are more runnable ranks than cores; waiting loops then yield the core at once.
  virtual bool oversubscribed() const { return false; }
  /// Called by waiting loops when they have found nothing to do for a while.
  virtual void yield();
  /// Sleeps until a rank of this host sends to this rank or wakes it, or the time is over. Called instead of
  /// yield() if ranks outnumber cores. is_ready() returns whether there is another reason to wake. Returns
  /// false if it cannot sleep.
  virtual bool sleep(double /*seconds*/, const std::function<bool()>& /*is_ready*/) { return false; }

  /// Returns the size from which bulk transfer pays. With bulk transfer, a transport may be able to move data
  /// without a copy.
  virtual std::size_t bulk_min_bytes() const { return SIZE_MAX; }
  /// Starts to send. The data must stay unchanged until bulk_sent(key) is true. Returns the key that the
  /// receiver needs.
  virtual std::uint64_t start_bulk_send(Rank dst, std::span<const std::byte> data);
  virtual bool bulk_sent(std::uint64_t key);
  /// Whether bulk data is in flight to this rank.
  virtual bool bulk_pending() const { return false; }
  /// Starts to receive. When the data has arrived, poll() passes `cookie` to Inbox::bulk_arrived().
  virtual void start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                                  std::uint64_t cookie);

  /// Collective, one reduction at a time: start it on every rank, then test until the result is true. Runs no
  /// handler. At most max_reduced values.
  static constexpr std::size_t max_reduced = 8;
  virtual void start_reduce(ReduceOp op, std::span<const std::int64_t> values) = 0;
  virtual bool test_reduce(std::span<std::int64_t> result) = 0;

  /// Returns the detector that quiesce() uses if ranks of a host share memory
  /// (am/src/am/transport/termination.hpp). If it is null, quiesce() uses reductions. The same on all ranks.
  virtual TerminationDetector* termination_detector() { return nullptr; }

  /// Whether another thread may make these calls, one at a time (ProgressThread).
  virtual bool allows_threads() const { return false; }

  /// Returns the ranks known to have died; empty if the transport cannot detect deaths. Waiting calls ask
  /// about every millisecond.
  virtual std::vector<Rank> dead_ranks() { return {}; }
  /// Whether the process that started this rank has ended, so that no launcher would end this rank.
  virtual bool is_orphan() const { return false; }

  /// Makes ranks that send to this rank raise the signal in the calling thread, so that messages reach a rank
  /// that computes. Returns false if this transport cannot do so. After a signal, call rearm_doorbell()
  /// before the last check of the rings. poll_from_signal() works like poll(), but delivers only messages
  /// that are safe inside a signal handler. If Inbox::takes_in_signal() refuses a message, it waits for
  /// poll(), and so do the messages after it.
  virtual bool arm_doorbell(int /*signal*/) { return false; }
  virtual void rearm_doorbell() {}
  virtual void disarm_doorbell() {}
  virtual int poll_from_signal(Inbox& /*inbox*/) { return 0; }
};

}  // namespace nuice::am
