// SPDX-License-Identifier: BSD-3-Clause
// Sends a rank's error to the other ranks, which check for it while they wait for that rank.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

/// Keeps memory that MPI may still read or write until the process ends. Leak checkers find it through the
/// static list.
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
  /// The tag must not be used for other messages of comm.
  Faults(std::shared_ptr<const Communicator> comm, int tag) : comm_(std::move(comm)), tag_(tag) {}

  // tell() and hear() give the communicator up, because some ranks may never receive the error.
  /// Sends the error to all other ranks, without waiting for them. Does nothing if a rank is known to have
  /// failed before.
  void tell(const Error& error);
  /// Throws the Error of another rank that has failed. Does not wait.
  void hear();
  bool has_failed() const { return has_failed_; }
  /// The rank whose Error was thrown.
  Rank heard_from() const { return heard_from_; }

 private:
  std::shared_ptr<const Communicator> comm_;
  int tag_;
  bool has_failed_ = false;  // whether this rank has failed, or has heard that another rank failed
  Rank heard_from_ = no_rank;
};

}  // namespace nuice::mpi
