// SPDX-License-Identifier: BSD-3-Clause
// DRS_N with MPI's one-sided operations: the lock is a word in a window, and no code runs at the receiver.
//
// * word: 2 g means free for round g of the exchange; 2 g + 1 means that a message of round g is in flight
// * receiver: start() posts all receives, then sets its word to 2 g
// * sender: compare-and-swap from 2 g to 2 g + 1. If it succeeds: MPI_Issend and, after its completion,
//   compare-and-swap from 2 g + 1 to 2 g. If it fails, the receiver is busy or has not yet begun the round.
//   The sender then tries another destination, and later this one again
//
// The word contains the round, so it also shows whether the receiver's buffers are ready. A late release
// therefore fails instead of opening the lock of the next round. Only compare-and-swap is used on the word,
// because MPI promises atomicity only between equal operations. A synchronous send is complete when the
// receiver has begun to receive it.
//
// Cost in addition to the payload: a compare-and-swap and a flush for every try and for every release.
// MPI_Win_flush waits for the target. If the network has no atomic operations, it waits until the target
// calls MPI. If the target has died, MPI_Win_flush never returns, and the guard ends the process
// (am/mpi/guard.hpp).
#pragma once

#include <mpi.h>

#include <memory>

#include "am/mpi/guard.hpp"
#include "drs/run.hpp"
#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"

namespace nuice::drs::mpi {

/// A 64-bit word on every rank for compare-and-swap, initially 0.
class Words {
 public:
  /// Collective. If a call takes longer than watchdog_s, the process ends; 0: no limit.
  Words(const nuice::mpi::Communicator& comm, const am::Endpoint& endpoint, double watchdog_s);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  /// Collective, unless the endpoint has failed, because no rank may wait for a dead rank.
  ~Words();
  /// If the word equals `expected`, replaces it by `desired`. Returns the previous value.
  std::int64_t compare_and_swap(Rank rank, std::int64_t expected, std::int64_t desired);

 private:
  am::mpi::Guard guard_;
  MPI_Win window_ = MPI_WIN_NULL;
  const am::Endpoint& endpoint_;
};

class RmaRun : public Run {
 public:
  /// Does not communicate.
  RmaRun(std::shared_ptr<void> keeps_alive, ActiveRuns& active, Messages messages, const Options& options);
  ~RmaRun() override;

  /// Collective. Called once, before the first start(): makes communicator and window.
  void connect(MPI_Comm parent, double watchdog_s);
  /// Makes the requests. Does not communicate. Throws Error limit if a message is too large for this MPI.
  void make_requests();

  bool step(am::FirstError& held) override;
  void append_waited_for(std::vector<Rank>& ranks) const override;

 protected:
  void begin() override;
  bool is_over() const override;

 private:
  bool step_in_mpi();
  void try_next();
  void release();

  std::unique_ptr<const nuice::mpi::Communicator> comm_;
  std::unique_ptr<Words> locks_;
  nuice::mpi::Requests receives_;
  nuice::mpi::Requests sends_;  // by message
  int sending_ = -1;            // the message in flight, or -1
  bool all_arrived_ = false;
  std::size_t unsent_ = 0;
  std::vector<char> is_sent_;  // by index in messages_.out; in this round
};

}  // namespace nuice::drs::mpi
