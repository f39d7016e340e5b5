// SPDX-License-Identifier: BSD-3-Clause
// DRS_N with MPI's one-sided operations: the lock is a word in a window, and nothing runs at the receiver.
//
//   word        2 g: free for round g of the exchange; 2 g + 1: a message of round g is on its way
//   receiver    start(): posts all receives, then sets its word to 2 g
//   sender      compare-and-swap 2 g -> 2 g + 1; won: MPI_Issend, and when that is complete 2 g + 1 -> 2 g
//   lost        the receiver is busy or has not yet begun the round: another destination, and this one again later
//
// The round in the word says also whether the receiver's buffers are ready, and makes a release that comes late fail
// instead of opening a lock of the next round. Only compare-and-swap is used on the word, as MPI promises atomicity
// between equal operations only. A synchronous send is complete when the receiver has begun to take it in.
//
// Cost in addition to the payload: a compare-and-swap and a flush for every try and for every release. MPI_Win_flush waits for
// the target; without atomic operations in the network that means until the target is inside MPI, and forever where it has
// died: then the process ends (am/mpi/guard.hpp).
#pragma once

#include <mpi.h>

#include <memory>

#include "am/mpi/guard.hpp"
#include "drs/run.hpp"
#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"

namespace nuice::drs::mpi {

/// A 64-bit word on every rank, 0 at first, for compare-and-swap.
class Words {
 public:
  /// Collective. Its calls are given up after watchdog_s; 0: no limit.
  Words(const nuice::mpi::Communicator& comm, const am::Endpoint& endpoint, double watchdog_s);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  /// Collective, unless the endpoint was given up: no rank may wait for the dead.
  ~Words();
  /// Returns the value before; it is replaced if that was `expected`.
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

  /// Collective, once, before the first start(): communicator and window.
  void connect(MPI_Comm parent, double watchdog_s);
  /// Makes the requests. Does not communicate. Throws Error limit where a message is too large for this MPI.
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
  int sending_ = -1;            // the message that is on its way, or -1
  bool all_arrived_ = false;
  std::size_t unsent_ = 0;
  std::vector<char> is_sent_;  // by index in messages_.out; in this round
};

}  // namespace nuice::drs::mpi
