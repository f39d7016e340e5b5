// SPDX-License-Identifier: BSD-3-Clause
#include "common/exact_sum.hpp"

#include "common/agree.hpp"

namespace nuice::apps {

RankSum::RankSum(MPI_Comm comm) : comm_(comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  all_.resize(static_cast<std::size_t>(size));
}

double RankSum::operator()(const ExactSum& mine) {
  MPI_Allgather(&mine, 2, MPI_DOUBLE, all_.data(), 2, MPI_DOUBLE, comm_);
  ExactSum sum;
  for (const ExactSum& one : all_) sum.add(one);
  return sum.value();
}

ExactSum dot(std::span<const double> a, std::span<const double> b) {
  // Four sums at once, so that one addition need not wait for the other.
  ExactSum sums[4];
  const std::size_t n = a.size();
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane].add(a[i + lane] * b[i + lane]);
  for (; i < n; ++i) sums[0].add(a[i] * b[i]);
  for (std::size_t lane = 1; lane < 4; ++lane) sums[0].add(sums[lane]);
  return sums[0];
}

}  // namespace nuice::apps
