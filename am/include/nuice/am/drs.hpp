// SPDX-License-Identifier: BSD-3-Clause
// DRS_N: distributed random scheduling that avoids node contention (004 s.4, figure 5), and Generate_Recv
// (004, figure 1). There is no table and no planning. Before a rank sends a message it asks the receiver,
// which grants one message at a time.
//
//   am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));      // nuice/mpi/drs.hpp does these 3 lines
//   drs::Exchanger exchanger(ep);                              // registers its handlers: before seal(), on every rank
//   ep.seal();
//   std::vector<Partner> sources = exchanger.sources(destinations);   // ranks that send to this rank
//   drs::Exchange exchange = exchanger.bind(destinations, sources, send, receive);
//   for (...) { exchange.start(); /* work */ exchange.wait(); }
//   exchange.free();
//
// Errors: a call marked "Collective" fails on all ranks with the same Error, or on no rank. The test() or
// wait() that makes progress throws the exceptions of handlers (the program's handlers, and the handlers of
// bad messages), even if they concern other exchanges. It throws them after it has done its work. If they
// arise in a collective call or a destructor, the next call that makes progress throws them. If there are
// several exceptions, only the first is thrown. Exceptions of handlers do not disturb exchanges. Only an
// error of the transport or of MPI ends an exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nuice/am/endpoint.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::drs {

/// How a sender tests whether the receiver is free, and reserves the receiver if so (test-and-set).
enum class Lock {
  message,  ///< An active message, which a handler at the receiver answers, as in the paper. AM-PUT sends the
            ///< data.
  rma,      ///< MPI_Compare_and_swap on a word of the receiver. MPI_Issend sends the data. Only with World
            ///< (nuice/mpi/drs.hpp).
};

/// What happens to an inquiry that finds the receiver busy.
enum class WhenBusy {
  refuse,  ///< The sender tries another destination, and this one again later, as in the paper.
  list,    ///< The receiver lists the inquiry, and grants listed inquiries one after the other. So there is
           ///< one inquiry per message. Not with Lock::rma.
};

/// The options of bind(); they must be equal on all ranks.
struct Options {
  Lock lock = Lock::message;
  WhenBusy when_busy = WhenBusy::refuse;
  /// With WhenBusy::list, the next inquiry is granted when at most this number of bytes of the previous
  /// messages is missing, so that the receiver does not idle for a round trip; 0: only one message at a time.
  Bytes early_bytes = 0;
  /// With WhenBusy::refuse, the minimum time before a destination that refused is asked again; 0: no delay.
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

/// Messages bound to buffers. After every start() there must be one wait(), or calls of test() until one
/// returns true. A rank receives one message of an exchange at a time (except for early_bytes); other
/// messages wait at their senders. Messages of different active exchanges may be received at the same time.
/// Such exchanges may be started and waited for in any order, because every call makes progress for all
/// exchanges of the exchanger.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// Destroys this exchange like the destructor, then takes over the other exchange.
  Exchange& operator=(Exchange&&) noexcept;
  /// Calls free(). If the exchange is active, completes it first, because the program may free its buffers
  /// next.
  ~Exchange();

  /// Starts the exchange; all ranks must call it. Does not wait for other ranks, and makes no progress. Until
  /// the exchange is complete, do not change send buffers and do not touch receive buffers. The rank's
  /// message to itself is copied here. Throws Error `state` if the exchange is already active or was freed.
  void start();
  /// Makes progress. Returns whether this rank's part is complete. Granted messages are sent here; with
  /// Lock::message this waits until the receiver has polled for them. Throws Error `state` without a start()
  /// and inside a handler. Also throws errors of handlers. If the exchange is complete, only the next call
  /// then reports this.
  bool test();
  /// Makes progress until this rank's part is complete. Throws Error `state` without a start() and inside a
  /// handler. Throws errors of handlers when the exchange is complete.
  void wait();
  Counters counters() const;
  /// Collective. Waits for other ranks only with Lock::rma. Throws Error `state` while the exchange is
  /// active. A second call does nothing.
  void free();

  explicit Exchange(std::unique_ptr<Run> run);  ///< Internal.

 private:
  Run& run() const;
  std::unique_ptr<Run> run_;
};

/// Makes exchanges without a plan between the ranks of an endpoint. The endpoint must outlive the exchanger
/// and its exchanges. Interruptible and ProgressThread (am/progress.hpp) may be in use, because all calls
/// mask themselves.
class Exchanger {
 public:
  /// Registers handlers. Construct it on every rank before seal().
  explicit Exchanger(am::Endpoint& endpoint);
  Exchanger(Exchanger&&) noexcept;
  ~Exchanger();

  /// Collective. Returns the ranks that send to this rank, and their bytes, by ascending rank. This rank is
  /// included. Messages of zero bytes are left out. This is Generate_Recv with one active message per entry.
  /// The paper uses a vector sum, which costs O(num_ranks). Here quiescence shows that all messages have
  /// arrived, which costs O(messages of this rank) and a few reductions. nuice/mpi/drs.hpp also offers the
  /// paper's method and the gathered matrix. Throws Error `invalid_argument` or `limit` for bad destinations,
  /// like nuice::mpi::Plan.
  std::vector<Partner> sources(std::span<const Partner> destinations);

  /// Collective. send[i] belongs to destinations[i], receive[i] to sources[i]. The memory must stay valid
  /// until Exchange::free(). Any number of exchanges may be bound. Cost: three reductions, and a port per
  /// source. Throws the same Error on all ranks: `invalid_argument` if destinations are wrong, options are
  /// out of range, or a buffer is missing or too small (with the pair of ranks); `mismatch` if options differ
  /// between ranks, or sources differ from what other ranks send (with the pair); `not_applicable` for
  /// Lock::rma.
  Exchange bind(std::span<const Partner> destinations, std::span<const Partner> sources,
                std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                const Options& options = {});

  struct State;
  State& state() const { return *state_; }  ///< Internal.

 private:
  std::shared_ptr<State> state_;
};

}  // namespace nuice::drs
