// SPDX-License-Identifier: BSD-3-Clause
// Sends a rank's error to the other ranks, which check for it while they wait for that rank.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "mpi/communicator.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {

/// Keeps memory that MPI may still read or write until the process ends. The static list lets leak checkers
/// find it.
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
  /// No other messages on comm may use the tag.
  Faults(std::shared_ptr<const Communicator> comm, int tag) : comm_(std::move(comm)), tag_(tag) {}

  // After tell() and hear() the communicator is given up, because some ranks may never receive the error.
  /// Sends the error to all other ranks, without waiting for them. Does nothing if this rank already knows of
  /// an error.
  void tell(const Error& error);
  /// If another rank has failed, throws its Error. Does not wait.
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
