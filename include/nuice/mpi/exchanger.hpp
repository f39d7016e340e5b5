// SPDX-License-Identifier: BSD-3-Clause
// Exchanges without a plan: every rank lists its messages of one exchange, without agreement beforehand. All
// messages are sent at once: to the next rank first, then to the rank after it, and so on.
//
//   nuice::mpi::Exchanger exchanger(MPI_COMM_WORLD);    // once; collective
//   exchanger.exchange(sends, receives);                // with different messages each time
//   auto exchange = exchanger.bind(sends, receives);    // or in the background, any number of times
//   exchange.start(); ...; exchange.wait();
//
// Both ends of a message must know its size, as with MPI_Alltoallv. If patterns repeat, a Plan may be faster;
// otherwise planning costs more than it gains. If receivers do not know their senders, see discover.hpp.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>

#include "nuice/core/types.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// Options of an Exchanger. The options of rank 0 apply to all ranks.
struct ExchangerOptions {
  double watchdog_s = 0;  ///< The limit, in seconds, of waiting without progress, as PlanOptions::watchdog_s.
};

class Exchanger {
 public:
  /// Collective. Duplicates the communicator. Throws Error with code `invalid_argument`, on all ranks, for
  /// intercommunicators, MPI_COMM_NULL and options out of range.
  explicit Exchanger(MPI_Comm comm, const ExchangerOptions& options = {});
  Exchanger(Exchanger&&) noexcept;
  Exchanger& operator=(Exchanger&&) noexcept;
  /// Frees the communicator once no bound exchange needs it; bound exchanges stay usable.
  ~Exchanger();

  /// Carries out one exchange. Both ends of every message must call exchange(), and must list the messages of
  /// one pair in the same order; a rank without messages need not call it. Several messages to one rank, and
  /// messages to the calling rank, are allowed. Throws Error with code `invalid_argument` for ranks outside
  /// the communicator and negative counts, on this rank alone and before anything is sent; `mismatch` on a
  /// receiver that gets a different number of bytes than it expects (the text names the pair); `mpi` and
  /// `timeout` as Exchange::wait().
  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives);

  /// Makes an exchange that can be started any number of times. Contents may change between exchanges, but
  /// sizes may not. bind() does not communicate. Several exchanges may be active if both ends of every
  /// message start them in the same order; one rank may be several exchanges ahead of another. Arrival::index
  /// is the position of the source among all sources by ascending rank. next() returns one Arrival per
  /// source, when the last message of this source has arrived; Arrival::data is empty.
  Exchange bind(std::span<const Outgoing> sends, std::span<const Incoming> receives);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi
