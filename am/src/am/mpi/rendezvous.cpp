// SPDX-License-Identifier: BSD-3-Clause
#include "am/mpi/rendezvous.hpp"

namespace nuice::am::mpi {

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

}  // namespace nuice::am::mpi
