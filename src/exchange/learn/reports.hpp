// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a bound exchange tell each other about it: one reduction after the other, for which no exchange waits.
//
// All ranks owe the same number of them, in the same order, whenever each gets to them; what a rank says is what it knows when
// it begins. Messages are on their way when an exchange is freed, and a communicator must not be freed before they have come:
// MPI may give its place to the next one, which would get them. So reports outlive their exchange until they are over: they
// are kept, with their communicator, and looked after by every later call that binds or frees on this process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "exchange/exec/dissemination.hpp"
#include "mpi/communicator.hpp"

namespace nuice::mpi {

class Reports {
 public:
  Reports(std::shared_ptr<const Communicator> comm, int tag, std::size_t count)
      : comm_(std::move(comm)), reduction_(*comm_, tag, count) {}

  /// One more, on all ranks.
  void owe() { ++owed_; }
  bool may_begin() const { return owed_ > 0 && !reduction_.is_under_way(); }
  /// Requires may_begin().
  void begin(std::span<const double> mine) {
    --owed_;
    reduction_.begin(mine);
  }
  /// Whether what was begun is here. Never waits.
  bool advance() { return reduction_.advance(); }
  std::span<const double> result() const { return reduction_.result(); }
  void cancel() noexcept { reduction_.cancel(); }

  /// Keeps it until it is over; nullptr does nothing. Then looks after all that are kept.
  static void leave(std::unique_ptr<Reports> reports) noexcept;

 private:
  bool is_over();

  std::shared_ptr<const Communicator> comm_;
  DisseminationMax reduction_;
  int owed_ = 0;
};

}  // namespace nuice::mpi
