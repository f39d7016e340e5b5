// SPDX-License-Identifier: BSD-3-Clause
// Sums that do not depend on the order of the numbers, and so not on how they are spread over ranks.
//
// Twice the digits of a double (Dekker 1971; Knuth's TwoSum) leave an error of about 2^-104 of the sum of the
// absolute values, far below what rounding to a double keeps. So all orders give the same double, unless the
// sum lies that close to the middle between two doubles.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

namespace nuice::apps {

/// high + low, unevaluated; |low| is at most half a unit in the last place of high.
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

/// Sums over the ranks of a communicator, the same on all of them to the last bit.
class RankSum {
 public:
  explicit RankSum(MPI_Comm comm);
  /// Collective. O(ranks).
  double operator()(const ExactSum& mine);
  /// Collective. The sum of every one, as many as on all ranks, to `sums`. O(ranks) each.
  void operator()(std::span<const ExactSum> mine, std::span<double> sums);

 private:
  MPI_Comm comm_;
  std::size_t num_ranks_;
  std::vector<ExactSum> all_;
};

/// sum of a[i] b[i], products rounded to double.
ExactSum dot(std::span<const double> a, std::span<const double> b);

/// The same for every column c of matrices with sums.size() columns: sums[c] = sum of a[i][c] b[i][c].
void dots(std::span<const double> a, std::span<const double> b, std::span<ExactSum> sums);

}  // namespace nuice::apps
