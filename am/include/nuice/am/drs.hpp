// SPDX-License-Identifier: BSD-3-Clause
// DRS_N: distributed random scheduling that avoids node contention (004 s.4, fig. 5), and Generate_Recv (004 fig. 1).
// There is no table and no planning: before a rank sends a message it asks the receiver, which lets one in at a time.
//
//   am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));      // nuice/mpi/drs.hpp does this much for you
//   drs::Exchanger exchanger(ep);                              // registers its handlers: before seal(), on every rank
//   ep.seal();
//   std::vector<Partner> sources = exchanger.sources(destinations);      // ranks that send to this rank, and how much
//   drs::Exchange exchange = exchanger.bind(destinations, sources, send, receive);
//   for (...) { exchange.start(); /* work */ exchange.wait(); }
//   exchange.free();
//
// Errors: "Collective" calls fail on all ranks with the same Error, or on none. What handlers throw meanwhile, those of the
// program and those that refuse a bad message, comes when the work is done: from test() and wait() that made the progress,
// whichever exchange it was for; from the next call that makes progress where it came up in a collective call or in
// a destructor. Of several the first. The exchanges are not disturbed. Only an error of the transport or of MPI ends one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nuice/am/endpoint.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::drs {

/// How a rank finds out whether the receiver is free, and takes it: test-and-set.
enum class Lock {
  message,  ///< An active message, answered by a handler at the receiver (the paper's way). Data by AM-PUT.
  rma,      ///< MPI_Compare_and_swap on a word of the receiver. Data by MPI_Issend. Only World (drs_mpi.hpp).
};

/// What becomes of an inquiry that finds the receiver busy.
enum class WhenBusy {
  refuse,  ///< The sender tries another destination, and this one again later (the paper's way).
  list,  ///< The receiver notes it and grants the next when it is free: one inquiry per message. Not with Lock::rma.
};

/// Must be equal on all ranks.
struct Options {
  Lock lock = Lock::message;
  WhenBusy when_busy = WhenBusy::refuse;
  /// WhenBusy::list only: the next is granted when at most this number of bytes of the previous ones is left, so that
  /// the receiver does not idle for a round trip. 0: one message at a time, strictly.
  Bytes early_bytes = 0;
  /// WhenBusy::refuse only: a destination that refused is not asked again for so long. 0: at the next turn.
  double delay_us = 0;
  std::uint64_t seed = 0;  ///< Of the random order in which a rank tries its destinations.
};

/// Of this rank as a sender, since bind().
struct Counters {
  std::uint64_t messages = 0;   ///< Sent; none for messages of a rank to itself.
  std::uint64_t inquiries = 0;  ///< At least one per message.
  std::uint64_t refusals = 0;   ///< Inquiries that found the receiver busy, or not yet in this round.
};

class Run;          // internal
struct ActiveRuns;  // internal

/// Messages bound to buffers. After every start() there must be one wait(), or test() until it returns true.
/// Guaranteed: a rank takes one message of an exchange at a time (but for early_bytes); the others wait at their
/// senders. Nothing is promised between exchanges that overlap. These may be started and waited for in any order,
/// as every call makes progress for all exchanges of the exchanger.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// What the destructor does, then takes over the other.
  Exchange& operator=(Exchange&&) noexcept;
  /// free(). An active exchange is completed first, as its buffers are about to go.
  ~Exchange();

  /// All ranks must call it. Does not wait for other ranks, makes no progress. Until the exchange is complete send
  /// buffers must not be changed and receive buffers not be touched. A message to itself is copied here. Throws Error
  /// state if the exchange is already active or was freed.
  void start();
  /// Makes progress; true when this rank's part is complete. A message that its receiver has granted is sent here, which
  /// with Lock::message waits until the receiver has polled for it. Throws Error state without a start() and inside a
  /// handler; handlers' errors, and then only the next call says that the exchange is complete.
  bool test();
  /// Makes progress until this rank's part is complete. Throws Error state without a start() and inside a handler;
  /// handlers' errors, when it is complete.
  void wait();
  Counters counters() const;
  /// Collective; waits for other ranks with Lock::rma only. Throws Error state while the exchange is active.
  /// Calling it again does nothing.
  void free();

  explicit Exchange(std::unique_ptr<Run> run);  ///< Internal.

 private:
  Run& run() const;
  std::unique_ptr<Run> run_;
};

/// What the ranks of an endpoint need to exchange on the fly. The endpoint must outlive it and its exchanges.
/// Interruptible and ProgressThread (am/progress.hpp) may be on: all calls mask themselves.
class Exchanger {
 public:
  /// Registers handlers: on every rank, before seal().
  explicit Exchanger(am::Endpoint& endpoint);
  Exchanger(Exchanger&&) noexcept;
  ~Exchanger();

  /// Collective. The ranks that send to this rank, with their bytes, by ascending rank, itself included, zero bytes not:
  /// Generate_Recv with one active message per entry. In place of the paper's vector sum, which costs O(num_ranks),
  /// quiescence says when all have come: O(messages of this rank) and a few reductions. nuice/mpi/drs.hpp has the
  /// paper's way and the gathered matrix too.
  /// Throws Error as nuice::mpi::Plan does for destinations: invalid_argument, limit.
  std::vector<Partner> sources(std::span<const Partner> destinations);

  /// Collective. send[i] belongs to destinations[i], receive[i] to sources[i]; the memory must stay valid until
  /// Exchange::free(). Any number of exchanges may be bound. Cost: three reductions, and a port per source.
  /// Throws Error, the same on all ranks: invalid_argument (destinations; a buffer missing or too small, the pair is
  /// named; options out of range), mismatch (sources are not what the others send, the pair is named; options differ
  /// between ranks), not_applicable (Lock::rma).
  Exchange bind(std::span<const Partner> destinations, std::span<const Partner> sources,
                std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                const Options& options = {});

  struct State;
  State& state() const { return *state_; }  ///< Internal.

 private:
  std::shared_ptr<State> state_;
};

}  // namespace nuice::drs
