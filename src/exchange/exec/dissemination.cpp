// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/exec/dissemination.hpp"

#include <algorithm>

namespace nuice::mpi {
namespace {

Rank partner(Rank rank, std::int64_t distance, Rank num_ranks) {
  return static_cast<Rank>((rank + distance + num_ranks) % num_ranks);
}

}  // namespace

DisseminationMax::DisseminationMax(const Communicator& comm, int tag, std::size_t count) : numbers_(count) {
  const Rank num_ranks = comm.num_ranks();
  std::size_t rounds = 0;
  for (std::int64_t distance = 1; distance < num_ranks; distance *= 2) ++rounds;
  sent_.resize(rounds * count);
  come_.resize(rounds * count);
  round_ = rounds;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::int64_t distance = std::int64_t{1} << round;
    const auto numbers_at = [&](std::vector<double>& all) {
      return Segment{reinterpret_cast<std::byte*>(&all[round * count]), static_cast<std::int64_t>(count),
                     MPI_DOUBLE};
    };
    requests_.add(Requests::Mode::receive, numbers_at(come_), partner(comm.rank(), -distance, num_ranks), tag,
                  comm.get());
    requests_.add(Requests::Mode::send, numbers_at(sent_), partner(comm.rank(), distance, num_ranks), tag,
                  comm.get());
  }
}

void DisseminationMax::begin(std::span<const double> mine) {
  std::ranges::copy(mine, numbers_.begin());
  round_ = 0;
  begin_round();
}

void DisseminationMax::begin_round() {
  if (2 * round_ == requests_.size()) return;
  std::ranges::copy(numbers_, sent_.begin() + static_cast<std::ptrdiff_t>(round_ * numbers_.size()));
  requests_.start(2 * round_, 2 * round_ + 2);
}

bool DisseminationMax::advance() {
  for (; 2 * round_ < requests_.size(); ++round_, begin_round()) {
    if (!requests_.test(2 * round_, 2 * round_ + 2)) return false;
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      numbers_[i] = std::max(numbers_[i], come_[round_ * numbers_.size() + i]);
  }
  return true;
}

void DisseminationMax::cancel() noexcept { requests_.cancel_receives(); }

}  // namespace nuice::mpi
