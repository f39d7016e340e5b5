// SPDX-License-Identifier: BSD-3-Clause
// DRS_N: distributed random scheduling that avoids node contention (004 s.4, fig. 5), and Generate_Recv (004
// fig. 1). There is no table and no planning. Before a rank sends a message it asks the receiver, which
// grants one message at a time.
//
//   am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));      // nuice/mpi/drs.hpp does these 3 lines
//   drs::Exchanger exchanger(ep);                              // registers its handlers: before seal(), on every rank
//   ep.seal();
//   std::vector<Partner> sources = exchanger.sources(destinations);   // ranks that send to this rank
//   drs::Exchange exchange = exchanger.bind(destinations, sources, send, receive);
//   for (...) { exchange.start(); /* work */ exchange.wait(); }
//   exchange.free();
//
// Errors: "Collective" calls fail on all ranks with the same Error, or on no rank. Exceptions of handlers
// (the program's handlers, and the handlers of bad messages) are thrown by the test() or wait() that made the
// progress, after it has done its work, whichever exchange they concern. If they arise in a collective call
// or a destructor, the next call that makes progress throws them. Of several exceptions only the first is
// thrown. Exceptions of handlers do not disturb exchanges. Only an error of the transport or of MPI ends an
// exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nuice/am/endpoint.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::drs {

/// How a rank tests whether the receiver is free, and reserves it: test-and-set.
enum class Lock {
  message,  ///< An active message, answered by a handler at the receiver, as in the paper. Data by AM-PUT.
  rma,      ///< MPI_Compare_and_swap on a word of the receiver. Data by MPI_Issend. Only with World
            ///< (nuice/mpi/drs.hpp).
};

/// What happens to an inquiry that finds the receiver busy.
enum class WhenBusy {
  refuse,  ///< The sender tries another destination, and later this one again, as in the paper.
  list,    ///< The receiver notes the inquiry, and grants the next one when it is free: one inquiry per
           ///< message. Not with Lock::rma.
};

/// The options of bind(); they must be equal on all ranks.
struct Options {
  Lock lock = Lock::message;
  WhenBusy when_busy = WhenBusy::refuse;
  /// WhenBusy::list only: the next inquiry is granted when at most this number of bytes of the previous
  /// messages is left, so that the receiver does not idle for a round trip. 0: only one message at a time.
  Bytes early_bytes = 0;
  /// WhenBusy::refuse only: the minimum time before a destination that refused is asked again. 0: no delay.
  double delay_us = 0;
  std::uint64_t seed = 0;  ///< Seed of the random order in which a rank tries its destinations.
};

/// Counts of this rank as a sender, since bind().
struct Counters {
  std::uint64_t messages = 0;   ///< Messages sent to other ranks.
  std::uint64_t inquiries = 0;  ///< At least one per message.
  std::uint64_t refusals = 0;   ///< Inquiries that found the receiver busy, or not yet started.
};

class Run;          // internal
struct ActiveRuns;  // internal

/// Messages bound to buffers. After every start() there must be one wait(), or test() until it returns true.
/// A rank receives one message of an exchange at a time (except for early_bytes); other messages wait at
/// their senders. This does not hold between exchanges that overlap. Such exchanges may be started and waited
/// for in any order, because every call makes progress for all exchanges of the exchanger.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// Destroys this exchange as the destructor does, then takes over the other.
  Exchange& operator=(Exchange&&) noexcept;
  /// Calls free(). An active exchange is completed first, because its buffers may be freed next.
  ~Exchange();

  /// All ranks must call it. Does not wait for other ranks, makes no progress. Until the exchange is
  /// complete, do not change send buffers and do not touch receive buffers. A message to itself is copied
  /// here. Throws Error state if the exchange is already active or was freed.
  void start();
  /// Makes progress. Returns true when this rank's part is complete. Granted messages are sent here; with
  /// Lock::message this waits until the receiver has polled for them. Throws Error state without a start()
  /// and inside a handler. Also throws errors of handlers; then only the next call reports that the exchange
  /// is complete.
  bool test();
  /// Makes progress until this rank's part is complete. Throws Error state without a start() and inside a
  /// handler. Errors of handlers are thrown when the exchange is complete.
  void wait();
  Counters counters() const;
  /// Collective. Waits for other ranks only with Lock::rma. Throws Error state while the exchange is active.
  /// Calling it again does nothing.
  void free();

  explicit Exchange(std::unique_ptr<Run> run);  ///< Internal.

 private:
  Run& run() const;
  std::unique_ptr<Run> run_;
};

/// Makes exchanges on the fly between the ranks of an endpoint, which must live longer than the exchanger and
/// its exchanges. Interruptible and ProgressThread (am/progress.hpp) may be in use: all calls mask
/// themselves.
class Exchanger {
 public:
  /// Registers handlers. Construct it on every rank before seal().
  explicit Exchanger(am::Endpoint& endpoint);
  Exchanger(Exchanger&&) noexcept;
  ~Exchanger();

  /// Collective. Returns the ranks that send to this rank, with their bytes, by ascending rank, including
  /// this rank, without zero bytes. This is Generate_Recv with one active message per entry. The paper uses a
  /// vector sum, which costs O(num_ranks). Here quiescence shows that all messages have arrived, which costs
  /// O(messages of this rank) and a few reductions. nuice/mpi/drs.hpp also offers the paper's method and the
  /// gathered matrix. Throws Error as nuice::mpi::Plan does for destinations: invalid_argument, limit.
  std::vector<Partner> sources(std::span<const Partner> destinations);

  /// Collective. send[i] belongs to destinations[i], receive[i] to sources[i]; the memory must stay valid
  /// until Exchange::free(). Any number of exchanges may be bound. Cost: three reductions, and a port per
  /// source. Throws Error, the same on all ranks: invalid_argument (destinations; options out of range; a
  /// buffer missing or too small, naming the pair), mismatch (options differ between ranks; sources differ
  /// from what other ranks send, naming the pair), not_applicable (Lock::rma).
  Exchange bind(std::span<const Partner> destinations, std::span<const Partner> sources,
                std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                const Options& options = {});

  struct State;
  State& state() const { return *state_; }  ///< Internal.

 private:
  std::shared_ptr<State> state_;
};

}  // namespace nuice::drs
