// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_bench/agree.hpp"

#include <mpi.h>

namespace nuice::bench {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::string first_text(const std::string& mine) {
  const int nobody = world_size();
  const int offer = mine.empty() ? nobody : world_rank();
  int first = nobody;
  MPI_Allreduce(&offer, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == nobody) return {};
  std::string text = mine;
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  return text;
}

}  // namespace nuice::bench
