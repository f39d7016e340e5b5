// SPDX-License-Identifier: BSD-3-Clause
#include "common/exact_sum.hpp"

#include <algorithm>

#include "nuice/mpi/agree.hpp"

namespace nuice::apps {

RankSum::RankSum(MPI_Comm comm) : comm_(comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  num_ranks_ = static_cast<std::size_t>(size);
}

double RankSum::operator()(const ExactSum& mine) {
  double sum = 0;
  (*this)({&mine, 1}, {&sum, 1});
  return sum;
}

void RankSum::operator()(std::span<const ExactSum> mine, std::span<double> sums) {
  all_.resize(mine.size() * num_ranks_);
  const int count = 2 * static_cast<int>(mine.size());
  MPI_Allgather(mine.data(), count, MPI_DOUBLE, all_.data(), count, MPI_DOUBLE, comm_);
  for (std::size_t c = 0; c < mine.size(); ++c) {
    ExactSum sum;
    for (std::size_t rank = 0; rank < num_ranks_; ++rank) sum.add(all_[rank * mine.size() + c]);
    sums[c] = sum.value();
  }
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

void dots(std::span<const double> a, std::span<const double> b, std::span<ExactSum> sums) {
  if (sums.size() == 1) {
    sums[0] = dot(a, b);
    return;
  }
  std::ranges::fill(sums, ExactSum{});
  for (std::size_t i = 0; i < a.size(); i += sums.size())
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].add(a[i + c] * b[i + c]);
}

}  // namespace nuice::apps
