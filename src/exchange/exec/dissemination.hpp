// SPDX-License-Identifier: BSD-3-Clause
// Synchronises all ranks of a communicator, and can say for whom it waits, which MPI_Ibarrier cannot:
//
//   for d = 1, 2, 4, ... < n:  tell rank + d, and hear of rank - d  (mod n)
//
// After round d a rank knows that the 2d ranks up to itself have come (by dissemination, as MPI's own).
// Cost: ceil(log2 n) empty messages one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

/// The maxima of some numbers over all ranks, by the same rounds: after round d a rank has those of the 2d ranks up to itself.
/// Nothing waits for it: ranks may come at any time, and call advance() at any time. All must come to all of them in the end.
class DisseminationMax {
 public:
  /// As DisseminationBarrier().
  DisseminationMax(const Communicator& comm, int tag, std::size_t count);
  DisseminationMax(const DisseminationMax&) = delete;
  DisseminationMax& operator=(const DisseminationMax&) = delete;

  bool is_under_way() const { return 2 * round_ < requests_.size(); }
  /// Requires that none is under way. mine: `count` numbers.
  void begin(std::span<const double> mine);
  /// Whether result() is here. Never waits.
  bool advance();
  std::span<const double> result() const { return numbers_; }
  void cancel() noexcept;

 private:
  void begin_round();

  std::vector<double> numbers_;
  std::vector<double> sent_;  // by round; MPI reads it
  std::vector<double> come_;  // by round
  Requests requests_;         // of each round the receive, then the send
  std::size_t round_ = 0;
};

}  // namespace nuice::mpi
