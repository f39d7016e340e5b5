// SPDX-License-Identifier: BSD-3-Clause
// Synchronises all ranks of a communicator, and can say for whom it waits, which MPI_Ibarrier cannot:
//
//   for d = 1, 2, 4, ... < n:  tell rank + d, and hear of rank - d  (mod n)
//
// After round d a rank knows that the 2d ranks up to itself have come (by dissemination, as MPI's own).
// Cost: ceil(log2 n) empty messages one after the other.
#pragma once

#include <cstdint>

#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

class DisseminationBarrier {
 public:
  /// Not collective. The communicator must outlive this, and nothing else may use the tag.
  DisseminationBarrier(const Communicator& comm, int tag);

  /// Comes, or goes on waiting. True when all ranks have come; block: not before. The next call comes to the
  /// next one.
  bool have_come(bool block);
  bool is_under_way() const { return is_under_way_; }
  /// While it is under way. That rank may wait for others in turn.
  Rank waits_for() const;
  std::int64_t num_rounds_over() const { return num_rounds_over_; }
  void cancel() noexcept;

 private:
  void begin_round();

  Requests requests_;  // of each round the receive, then the send
  Rank rank_;
  Rank num_ranks_;
  std::size_t round_ = 0;
  bool is_under_way_ = false;
  std::int64_t num_rounds_over_ = 0;
};

}  // namespace nuice::mpi
