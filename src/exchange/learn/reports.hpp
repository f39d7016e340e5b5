// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a bound exchange tell each other about it: the maxima of some numbers over all ranks, one report after the
// other, without a collective call of MPI and without an exchange that waits for it.
//
//   for d = 1, 2, 4, ... < n:  tell rank + d, and hear of rank - d  (mod n)
//
// After round d a rank has the maxima of the 2d ranks up to itself. Ranks may come at any time, but all must come to all reports.
// Cost: ceil(log2 n) messages one after the other.
//
// Messages are on their way when an exchange is freed, and a communicator must not be freed before they have come: MPI may give
// its place to the next one, which would get them. So reports outlive their exchange until they are over: they are kept, with
// their communicator, and looked after by every later call that binds or frees on this process.
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
  /// Not collective. count: the numbers of a report. Nothing else may use the tag.
  Reports(std::shared_ptr<const Communicator> comm, int tag, std::size_t count);

  /// Requires that none is active. mine: `count` numbers.
  void begin(std::span<const double> mine);
  /// Whether what was begun is here. Never waits.
  bool advance();
  std::span<const double> result() const { return numbers_; }
  void cancel() noexcept { requests_.cancel_receives(); }

  /// Keeps it until it is over; nullptr does nothing. Then looks after all that are kept.
  static void leave(std::unique_ptr<Reports> reports) noexcept;

 private:
  void begin_round();

  std::shared_ptr<const Communicator> comm_;
  std::vector<double> numbers_;
  std::vector<double> sent_;  // by round; MPI reads it
  std::vector<double> come_;  // by round
  Requests requests_;         // of each round the receive, then the send
  std::size_t round_ = 0;
};

}  // namespace nuice::mpi
