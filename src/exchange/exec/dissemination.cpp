// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/exec/dissemination.hpp"

#include "mpi/call.hpp"

namespace nuice::mpi {
namespace {

Rank partner(Rank rank, std::int64_t distance, Rank num_ranks) {
  return static_cast<Rank>((rank + distance + num_ranks) % num_ranks);
}

}  // namespace

DisseminationBarrier::DisseminationBarrier(const Communicator& comm, int tag)
    : rank_(comm.rank()), num_ranks_(comm.num_ranks()) {
  for (std::int64_t distance = 1; distance < num_ranks_; distance *= 2) {
    requests_.make_room();
    MPI_Request receive = MPI_REQUEST_NULL;
    must(
        MPI_Recv_init(nullptr, 0, MPI_BYTE, partner(rank_, -distance, num_ranks_), tag, comm.get(), &receive),
        "MPI_Recv_init");
    requests_.adopt(receive);
    requests_.make_room();
    requests_.add({.to = partner(rank_, distance, num_ranks_), .tag = tag, .comm = comm.get()});
  }
}

void DisseminationBarrier::begin_round() {
  if (2 * round_ < requests_.size()) requests_.start(2 * round_, 2 * round_ + 2);
}

bool DisseminationBarrier::have_come(bool block) {
  if (!is_under_way_) {
    is_under_way_ = true;
    round_ = 0;
    begin_round();
  }
  while (2 * round_ < requests_.size()) {
    if (block) requests_.wait(2 * round_, 2 * round_ + 2);
    if (!block && !requests_.test(2 * round_, 2 * round_ + 2)) return false;
    ++round_;
    ++num_rounds_over_;
    begin_round();
  }
  is_under_way_ = false;
  return true;
}

Rank DisseminationBarrier::waits_for() const {
  return partner(rank_, -(std::int64_t{1} << round_), num_ranks_);
}

void DisseminationBarrier::cancel() noexcept {
  for (std::size_t receive = 0; receive < requests_.size(); receive += 2)
    requests_.cancel(receive, receive + 1);
}

}  // namespace nuice::mpi
