// SPDX-License-Identifier: BSD-3-Clause
// Exchanges without a plan: every rank lists its messages of this one exchange, without agreement beforehand.
// All messages are sent at once, to the next rank first, then to the one after it, and so on.
//
//   nuice::mpi::Exchanger exchanger(MPI_COMM_WORLD);                 // once; collective
//   exchanger.exchange(sends, receives);                             // any messages, different ones each
//   time
//   auto exchange = exchanger.bind(sends, receives);                 // or in the background, and as often as you like
//   exchange.start(); ...; exchange.wait();
//
// Both ends of a message must know its size, as with MPI_Alltoallv. If patterns repeat, a Plan may be faster;
// otherwise planning costs more than it gains. If receivers do not know their senders: discover.hpp.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>

#include "nuice/core/types.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// The options of rank 0 apply.
struct ExchangerOptions {
  double watchdog_s = 0;  ///< As PlanOptions::watchdog_s.
};

class Exchanger {
 public:
  /// Collective. Makes a duplicate of the communicator. Throws Error invalid_argument for intercommunicators, MPI_COMM_NULL and options out of range, on all ranks.
  explicit Exchanger(MPI_Comm comm, const ExchangerOptions& options = {});
  Exchanger(Exchanger&&) noexcept;
  Exchanger& operator=(Exchanger&&) noexcept;
  /// Exchanges that are bound stay usable.
  ~Exchanger();

  /// Carries out one exchange. Both ends of every message must call, with the messages of one pair in the
  /// same order; a rank without messages need not call. Several messages to one rank, and messages to itself,
  /// are allowed. Throws Error invalid_argument, on this rank alone and before anything is sent, for ranks
  /// outside and negative
  /// counts; mismatch, which names the pair, on a receiver that gets another number of bytes than it expects;
  /// mpi and timeout as Exchange::wait().
  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives);

  /// Makes an exchange that can be started and waited for any number of times; contents may change in
  /// between, sizes may not. Does not communicate. Several may be active, if both ends of a pair start them
  /// in the same order; ranks may be several exchanges apart. Arrival::index is the position of the source
  /// among all sources by ascending rank. next() returns one Arrival per source, when the last of its
  /// messages has arrived; its `data` is empty.
  Exchange bind(std::span<const Outgoing> sends, std::span<const Incoming> receives);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi
