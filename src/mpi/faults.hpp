// SPDX-License-Identifier: BSD-3-Clause
// What a rank that has failed tells the others, which look for it while they wait for that rank.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

/// What MPI may still read from or write to. Leak checkers find it here.
template <typename Object>
void leave_to_mpi(std::unique_ptr<Object> object) {
  struct Left {
    std::unique_ptr<Object> object;
    Left* before;
  };
  static std::atomic<Left*> last = nullptr;
  auto* const left = new Left{std::move(object), nullptr};
  left->before = last.exchange(left);
}

class Faults {
 public:
  /// No other message of comm has this tag.
  Faults(std::shared_ptr<const Communicator> comm, int tag) : comm_(std::move(comm)), tag_(tag) {}

  // The communicator is given up, as others may never hear.
  /// To all others, without waiting for them. Nothing where some rank is known to have failed before.
  void tell(const Error& error);
  /// Throws the Error of another rank that has failed. Does not wait.
  void hear();
  bool has_failed() const { return has_failed_; }
  /// The rank whose Error was thrown.
  Rank heard_from() const { return heard_from_; }

 private:
  std::shared_ptr<const Communicator> comm_;
  int tag_;
  bool has_failed_ = false;  // this rank or, as it was heard, another one
  Rank heard_from_ = no_rank;
};

}  // namespace nuice::mpi
