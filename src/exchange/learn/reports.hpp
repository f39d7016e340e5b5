// SPDX-License-Identifier: BSD-3-Clause
// Reports among the ranks of a bound exchange, one after the other. A report is the maxima of some numbers
// over all ranks. It needs no collective call of MPI, and exchanges continue during a report.
//
//   for d = 1, 2, 4, ... < n:  send to rank + d, receive from rank - d  (mod n)
//
// After the round with distance d, a rank has the maxima over 2 d ranks: itself and the 2 d - 1 ranks before
// it. Ranks may begin at any time, but all ranks must take part in all reports. Cost: ceil(log2 n) messages
// one after the other.
//
// Messages may be in flight when an exchange is freed. Their communicator must not be freed before they have
// arrived: MPI may give the communicator's context to a new communicator, which would then receive these
// messages. So reports are kept with their communicator until they are complete. Every later call on this
// process that binds or frees makes progress on them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

class Reports {
 public:
  /// Not collective. count: the number of values in a report. No other messages may use the tag.
  Reports(std::shared_ptr<const Communicator> comm, int tag, std::size_t count);

  /// Begins a report with this rank's `count` values. Requires that no report is active.
  void begin(std::span<const double> mine);
  /// Makes progress. Never waits. Returns whether the report that was begun last is complete.
  bool advance();
  std::span<const double> result() const { return numbers_; }
  void cancel() noexcept { requests_.cancel_receives(); }

  /// Keeps `reports` until they are complete; nullptr is allowed. Then makes progress on all kept reports.
  static void leave(std::unique_ptr<Reports> reports) noexcept;

 private:
  void begin_round();

  std::shared_ptr<const Communicator> comm_;
  std::vector<double> numbers_;
  std::vector<double> sent_;  // values by round, which MPI reads
  std::vector<double> come_;  // received values by round
  Requests requests_;         // for each round the receive, then the send
  std::size_t round_ = 0;
};

}  // namespace nuice::mpi
