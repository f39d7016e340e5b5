// SPDX-License-Identifier: BSD-3-Clause
// The maxima of some numbers over all ranks, without a collective call of MPI:
//
//   for d = 1, 2, 4, ... < n:  tell rank + d, and hear of rank - d  (mod n)
//
// Cost: ceil(log2 n) messages one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {

/// After round d a rank has the maxima of the 2d ranks up to itself.
/// Nothing waits for it: ranks may come at any time, and call advance() at any time. All must come to all of them in the end.
class DisseminationMax {
 public:
  /// Not collective. The communicator must outlive this, and nothing else may use the tag.
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
