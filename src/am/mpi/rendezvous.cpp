// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/rendezvous.hpp"

#include <algorithm>

namespace nuice::am::mpi {

bool MpiRendezvous::allows_threads() const {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

std::vector<std::string> MpiRendezvous::all_gather(const std::string& mine) {
  const auto size = static_cast<std::size_t>(num_ranks());
  std::vector<int> lengths(size);
  const int length = static_cast<int>(mine.size());
  must(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm_.get()), "MPI_Allgather");
  std::vector<int> begins(size, 0);
  for (std::size_t i = 1; i < size; ++i) begins[i] = begins[i - 1] + lengths[i - 1];
  std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), '\0');
  must(MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR,
                      comm_.get()),
       "MPI_Allgatherv");
  std::vector<std::string> result;
  for (std::size_t i = 0; i < size; ++i)
    result.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
  return result;
}

bool MpiRendezvous::all_agree(bool mine) {
  const int yes = mine ? 1 : 0;
  int all = 0;
  must(MPI_Allreduce(&yes, &all, 1, MPI_INT, MPI_MIN, comm_.get()), "MPI_Allreduce");
  return all != 0;
}

void MpiRendezvous::start_reduce(ReduceOp op, std::span<const std::int64_t> values) {
  if (values.empty()) {
    must(MPI_Ibarrier(comm_.get(), &reduction_), "MPI_Ibarrier");
    return;
  }
  std::ranges::copy(values, reduce_in_.begin());
  must(MPI_Iallreduce(reduce_in_.data(), reduce_out_.data(), static_cast<int>(values.size()), MPI_INT64_T,
                      op == ReduceOp::sum ? MPI_SUM : MPI_MAX, comm_.get(), &reduction_),
       "MPI_Iallreduce");
}

bool MpiRendezvous::test_reduce(std::span<std::int64_t> result) {
  int done = 0;
  must(MPI_Test(&reduction_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) std::copy_n(reduce_out_.begin(), result.size(), result.begin());
  return done != 0;
}

}  // namespace nuice::am::mpi
