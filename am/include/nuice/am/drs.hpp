// SPDX-License-Identifier: BSD-3-Clause
// DRS_N: distributed random scheduling that avoids node contention (004 s.4, fig. 5), and Generate_Recv (004
// fig. 1). There is no table and no planning. Before a rank sends a message, it asks the receiver, and the
// receiver grants one message at a time.
//
//   am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));   // nuice/mpi/drs.hpp does these 3 lines
//   drs::Exchanger exchanger(ep);                        // registers its handlers: before seal()
//   ep.seal();
//   std::vector<Partner> sources = exchanger.sources(destinations);   // ranks that send to this rank
//   drs::Exchange exchange = exchanger.bind(destinations, sources, send, receive);
//   for (...) { exchange.start(); /* work */ exchange.wait(); }
//   exchange.free();
//
// Errors: "Collective" calls fail on all ranks with the same Error, or on no rank. If a handler throws, or a
// bad message arrives, the test() or wait() that made the progress first does its own work and then throws
// the exception, even if the exception concerns another exchange. If an exception arises in a collective call
// or a destructor, the next call that makes progress throws it. Of several exceptions only the first is
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

/// The method by which a rank tests whether the receiver is free, and reserves it (test-and-set).
enum class Lock {
  /// An active message, which a handler at the receiver answers, as in the paper. Data travel by AM-PUT.
  message,
  /// MPI_Compare_and_swap on a word of the receiver. Data travel by MPI_Issend. Only with World
  /// (nuice/mpi/drs.hpp).
  rma,
};

/// What happens to an inquiry that finds the receiver busy.
enum class WhenBusy {
  refuse,  ///< The sender tries another destination, and later tries this destination again, as in the paper.
  /// The receiver notes the inquiry, and grants the next noted inquiry when it is free. So every message
  /// takes one inquiry. Not with Lock::rma.
  list,
};

/// The options of bind(); they must be equal on all ranks.
struct Options {
  Lock lock = Lock::message;
  WhenBusy when_busy = WhenBusy::refuse;
  /// Only with WhenBusy::list: the receiver grants the next inquiry when at most this number of bytes of the
  /// previous messages has not yet arrived, so that it does not idle for a round trip. 0: it grants one
  /// message at a time.
  Bytes early_bytes = 0;
  /// Only with WhenBusy::refuse: the minimum time, in microseconds, before a rank asks a destination again
  /// after a refusal. 0: no delay.
  double delay_us = 0;
  std::uint64_t seed = 0;  ///< The seed of the random order in which a rank tries its destinations.
};

/// Counts of this rank as a sender, since bind().
struct Counters {
  std::uint64_t messages = 0;   ///< The number of messages that this rank sent to other ranks.
  std::uint64_t inquiries = 0;  ///< The number of inquiries, at least one per message.
  /// The number of inquiries that found the receiver busy, or its exchange not yet started.
  std::uint64_t refusals = 0;
};

class Run;          // internal
struct ActiveRuns;  // internal

/// Messages bound to buffers. After every start() the program must call wait(), or test() until it returns
/// true. A rank receives one message of an exchange at a time (except for early_bytes); other messages wait
/// at their senders. If several exchanges are active, a rank may receive one message of each at a time. Such
/// exchanges may be started and waited for in any order, because every call makes progress for all exchanges
/// of the exchanger.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// Destroys this exchange as the destructor does, then takes over the other exchange.
  Exchange& operator=(Exchange&&) noexcept;
  /// Calls free(). An active exchange is completed first, because its buffers may be freed next.
  ~Exchange();

  /// Starts the exchange. All ranks must call start(). start() does not wait for other ranks, and makes no
  /// progress. Until the exchange is complete, do not change send buffers, and do not touch receive buffers.
  /// start() copies this rank's message to itself. Throws Error with code `state` if the exchange is already
  /// active or was freed.
  void start();
  /// Makes progress. Returns true if this rank's part is complete. test() sends granted messages; with
  /// Lock::message it waits until the receiver has polled for these messages. Throws Error with code `state`
  /// if the exchange was not started, and inside a handler. Also throws errors of handlers; in this case only
  /// the next call reports that the exchange is complete.
  bool test();
  /// Makes progress until this rank's part is complete. Throws Error with code `state` if the exchange was
  /// not started, and inside a handler. Errors of handlers are thrown when the exchange is complete.
  void wait();
  Counters counters() const;
  /// Collective. Frees the exchange. Waits for other ranks only with Lock::rma. Throws Error with code
  /// `state` if the exchange is active. A second call does nothing.
  void free();

  explicit Exchange(std::unique_ptr<Run> run);  ///< Internal.

 private:
  Run& run() const;
  std::unique_ptr<Run> run_;
};

/// Makes exchanges on the fly between the ranks of an endpoint. The endpoint must live longer than the
/// exchanger and its exchanges. Interruptible and ProgressThread (am/progress.hpp) may be in use, because all
/// calls use a Mask.
class Exchanger {
 public:
  /// Registers handlers. Construct the exchanger on every rank before seal().
  explicit Exchanger(am::Endpoint& endpoint);
  Exchanger(Exchanger&&) noexcept;
  ~Exchanger();

  /// Collective. Returns the ranks that send to this rank, and the bytes from each, by ascending rank; this
  /// rank may be included. Messages of zero bytes are ignored. This is Generate_Recv with one active message
  /// per entry. The paper uses a vector sum, which costs O(num_ranks). Here quiescence shows that all
  /// messages have arrived, which costs O(messages of this rank) and a few reductions. nuice/mpi/drs.hpp also
  /// offers the paper's method and the gathering of the matrix. Throws Error with code `invalid_argument` or
  /// `limit` for wrong destinations, as nuice::mpi::Plan does.
  std::vector<Partner> sources(std::span<const Partner> destinations);

  /// Collective. Binds buffers: send[i] belongs to destinations[i], receive[i] to sources[i]. The memory must
  /// stay valid until Exchange::free(). Any number of exchanges may be bound. Cost: three reductions, and a
  /// port per source. Throws Error, the same on all ranks: code `invalid_argument` for wrong destinations,
  /// options out of range, or a buffer that is missing or too small (the text names the pair); `mismatch` if
  /// options differ between ranks, or if `sources` differs from what other ranks send (the text names the
  /// pair); `not_applicable` for Lock::rma.
  Exchange bind(std::span<const Partner> destinations, std::span<const Partner> sources,
                std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                const Options& options = {});

  struct State;
  State& state() const { return *state_; }  ///< Internal.

 private:
  std::shared_ptr<State> state_;
};

}  // namespace nuice::drs
