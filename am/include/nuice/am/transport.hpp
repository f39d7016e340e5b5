// SPDX-License-Identifier: BSD-3-Clause
// The interface of a transport of active messages. Programs use Endpoint (endpoint.hpp); this is for programmers that
// pick or write a transport: nuice/mpi/am.hpp (mpi, ucx, shm), nuice/am/loopback.hpp (many ranks in one process).
//
// A transport keeps the order of messages between two ranks, loses none, and never blocks.
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

/// What the payload of a message is for. Never 0: the rings use that for "nothing here yet".
enum class Kind : std::uint8_t {
  message = 1,  ///< One call of a handler.
  batch,        ///< Arguments of one handler, contiguous.
  call,         ///< As message, behind a CallId, and the sender waits for a result.
  internal,     ///< For the endpoint itself; handler is an internal number.
  transport,    ///< For the transport itself (credits, end of a ring); never handed to an Inbox.
};

/// The eight bytes before every payload.
struct Header {
  std::uint32_t bytes = 0;    ///< Of the payload.
  std::uint16_t handler = 0;  ///< Position in the order of registration.
  Kind kind = Kind::message;
  std::uint8_t credits = 0;  ///< The transport's own.
};
static_assert(sizeof(Header) == 8);

enum class ReduceOp { sum, max };

/// The transport cannot go on (MPI failed; another rank of a loop-back run threw): waiting calls give up.
class TransportError : public Error {
 public:
  using Error::Error;
};

/// Where a transport delivers; the endpoint makes it.
class Inbox {
 public:
  explicit Inbox(EndpointCore& core) : core_(core) {}

  /// Runs the handler. Throws what the handler throws, Error mismatch for an unknown handler or a wrong size.
  void deliver(Rank src, Header header, const std::byte* payload);
  /// Whether such a message may be delivered inside a signal handler: no internal one, which may allocate and call the
  /// transport, and none while there is no memory set aside for what its handler may send.
  bool takes_in_signal(Header header) const;
  /// Bulk data of start_bulk_receive has arrived.
  void bulk_arrived(std::uint64_t cookie);

  EndpointCore& core() const { return core_; }  ///< Internal to the library.

 private:
  EndpointCore& core_;
};

/// One rank's end. Not for several threads at a time.
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

  /// Takes a message whose payload is a followed by b, or says no (false) for want of credit or room; the same
  /// call must then be made again later, after polling. dst is another rank. Copies what it needs. Makes no
  /// progress and runs no handler.
  virtual bool try_send(Rank dst, Header header, std::span<const std::byte> a,
                        std::span<const std::byte> b) = 0;

  /// Hands at most about `limit` arrived messages to the inbox, each where it lies if possible. Returns how many.
  virtual int poll(Inbox& inbox, int limit) = 0;

  /// The ring to a rank of the same host, which sends then take without asking; null if there is none.
  virtual RingProducer* ring_to(Rank) { return nullptr; }

  /// More runnable ranks than cores: waiting loops then give the core away at once.
  virtual bool oversubscribed() const { return false; }
  /// Called in waiting loops that found nothing to do for a while.
  virtual void yield();
  /// In place of that, where ranks outnumber cores: leaves the core to those that have work until a rank of this host sends to this
  /// one or wakes it, at most so long. is_ready(): something else it may be woken for is there. False: it cannot.
  virtual bool sleep(double /*seconds*/, const std::function<bool()>& /*is_ready*/) { return false; }

  /// Bulk data, which a transport may be able to move without a copy. Worth it from bulk_min_bytes() on.
  virtual std::size_t bulk_min_bytes() const { return SIZE_MAX; }
  /// Starts to send; data must stay untouched until bulk_sent(key). Returns the key that the receiver needs.
  virtual std::uint64_t start_bulk_send(Rank dst, std::span<const std::byte> data);
  virtual bool bulk_sent(std::uint64_t key);
  /// Some bulk data is on its way to this rank.
  virtual bool bulk_pending() const { return false; }
  /// Starts to receive. poll() hands `cookie` to Inbox::bulk_arrived when the data is there.
  virtual void start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                                  std::uint64_t cookie);

  /// Collective; one at a time: start on every rank, then test until true. Runs no handler. At most max_reduced values.
  static constexpr std::size_t max_reduced = 8;
  virtual void start_reduce(ReduceOp op, std::span<const std::int64_t> values) = 0;
  virtual bool test_reduce(std::span<std::int64_t> result) = 0;

  /// What quiesce() goes by, where ranks of a host share memory (am/src/am/transport/termination.hpp); null: reductions. The same on all ranks.
  virtual TerminationDetector* termination_detector() { return nullptr; }

  /// Whether another thread may make these calls, one at a time (ProgressThread).
  virtual bool allows_threads() const { return false; }

  /// The ranks known to have died; none if the transport cannot tell. Waiting calls ask about every millisecond.
  virtual std::vector<Rank> dead_ranks() { return {}; }
  /// Whether the process that started this rank is gone, so that nothing will end it.
  virtual bool is_orphan() const { return false; }

  /// Delivery to a rank that computes. arm_doorbell(signal): from now on a rank that sends to the calling thread's
  /// rank raises that signal in this thread; false if this transport cannot. rearm_doorbell: after a signal, before
  /// the rings are looked at a last time. poll_from_signal: as poll, only what is safe inside a signal handler: what
  /// Inbox::takes_in_signal refuses waits for poll(), and what is behind it too.
  virtual bool arm_doorbell(int /*signal*/) { return false; }
  virtual void rearm_doorbell() {}
  virtual void disarm_doorbell() {}
  virtual int poll_from_signal(Inbox& /*inbox*/) { return 0; }
};

}  // namespace nuice::am
