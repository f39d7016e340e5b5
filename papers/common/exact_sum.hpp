// SPDX-License-Identifier: BSD-3-Clause
// Sums that do not depend on the order of the numbers, and so not on their distribution over ranks.
//
// Sums have twice the digits of a double (Dekker 1971; Knuth's TwoSum). The error is about 2^-104 of the sum
// of the absolute values, far below a double's rounding. So all orders give the same double, unless the sum
// is that close to the middle between two doubles.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <span>
#include <vector>

#include "nuice/mpi/agree.hpp"

namespace nuice::apps {

/// The unevaluated sum high + low; |low| is at most half a unit in the last place of high.
struct ExactSum {
  double high = 0;
  double low = 0;

  void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  void add(const ExactSum& other) {
    add(other.high);
    low += other.low;
  }
  double value() const { return high + low; }
};

/// Computes sums over the ranks of a communicator, which are the same on all ranks to the last bit.
class RankSum {
 public:
  explicit RankSum(MPI_Comm comm) : comm_(comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    num_ranks_ = static_cast<std::size_t>(size);
  }

  /// Collective. O(ranks).
  double operator()(const ExactSum& mine) {
    double sum = 0;
    (*this)({&mine, 1}, {&sum, 1});
    return sum;
  }

  /// Collective. Writes the sum of each element to `sums`. All ranks have equally many elements. O(ranks) per
  /// element.
  void operator()(std::span<const ExactSum> mine, std::span<double> sums) {
    all_.resize(mine.size() * num_ranks_);
    const int count = 2 * static_cast<int>(mine.size());
    MPI_Allgather(mine.data(), count, MPI_DOUBLE, all_.data(), count, MPI_DOUBLE, comm_);
    for (std::size_t c = 0; c < mine.size(); ++c) {
      ExactSum sum;
      for (std::size_t rank = 0; rank < num_ranks_; ++rank) sum.add(all_[rank * mine.size() + c]);
      sums[c] = sum.value();
    }
  }

 private:
  MPI_Comm comm_;
  std::size_t num_ranks_;
  std::vector<ExactSum> all_;
};

/// Returns the sum of a[i] b[i], with products rounded to double.
inline ExactSum dot(std::span<const double> a, std::span<const double> b) {
  // Four sums are computed at the same time, so that an addition need not wait for the previous one.
  ExactSum sums[4];
  const std::size_t n = a.size();
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane].add(a[i + lane] * b[i + lane]);
  for (; i < n; ++i) sums[0].add(a[i] * b[i]);
  for (std::size_t lane = 1; lane < 4; ++lane) sums[0].add(sums[lane]);
  return sums[0];
}

/// Computes dot() for every column c of matrices with sums.size() columns: sums[c] = sum of a[i][c] b[i][c].
inline void dots(std::span<const double> a, std::span<const double> b, std::span<ExactSum> sums) {
  if (sums.size() == 1) {
    sums[0] = dot(a, b);
    return;
  }
  std::ranges::fill(sums, ExactSum{});
  for (std::size_t i = 0; i < a.size(); i += sums.size())
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].add(a[i + c] * b[i + c]);
}

}  // namespace nuice::apps
