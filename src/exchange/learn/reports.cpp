// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/learn/reports.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

struct Kept {
  std::mutex mutex;
  std::vector<std::unique_ptr<Reports>> reports;
};

/// Returns the list of kept reports. It is never destroyed, because MPI may be finalized first.
Kept& kept() {
  static Kept* const all = new Kept;
  return *all;
}

}  // namespace

Reports::Reports(std::shared_ptr<const Communicator> comm, int tag, std::size_t count)
    : comm_(std::move(comm)), numbers_(count) {
  const std::int64_t num_ranks = comm_->num_ranks();
  for (std::int64_t distance = 1; distance < num_ranks; distance *= 2) ++round_;
  sent_.resize(round_ * count);
  come_.resize(round_ * count);
  for (std::size_t round = 0; round < round_; ++round) {
    const std::int64_t distance = std::int64_t{1} << round;
    const auto add = [&](Requests::Mode mode, std::vector<double>& all, std::int64_t to) {
      const Segment numbers{reinterpret_cast<std::byte*>(&all[round * count]),
                            static_cast<std::int64_t>(count), MPI_DOUBLE};
      requests_.add(mode, numbers, static_cast<Rank>((comm_->rank() + to + num_ranks) % num_ranks), tag,
                    comm_->get());
    };
    add(Requests::Mode::receive, come_, -distance);
    add(Requests::Mode::send, sent_, distance);
  }
}

void Reports::begin(std::span<const double> mine) {
  std::ranges::copy(mine, numbers_.begin());
  round_ = 0;
  begin_round();
}

void Reports::begin_round() {
  if (2 * round_ == requests_.size()) return;
  std::ranges::copy(numbers_, sent_.begin() + static_cast<std::ptrdiff_t>(round_ * numbers_.size()));
  requests_.start(2 * round_, 2 * round_ + 2);
}

bool Reports::advance() {
  for (; 2 * round_ < requests_.size(); ++round_, begin_round()) {
    if (!requests_.test(2 * round_, 2 * round_ + 2)) return false;
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      numbers_[i] = std::max(numbers_[i], come_[round_ * numbers_.size() + i]);
  }
  return true;
}

void Reports::leave(std::unique_ptr<Reports> reports) noexcept {
  if (is_finalized()) {
    (void)reports.release();
    return;
  }
  try {
    const std::scoped_lock lock(kept().mutex);
    auto& all = kept().reports;
    if (reports) all.push_back(std::move(reports));
    std::erase_if(all, [](const std::unique_ptr<Reports>& each) { return each->advance(); });
  } catch (const std::exception&) {
    // A destructor cannot report an error, so the reports stay in the list.
  }
}

}  // namespace nuice::mpi
